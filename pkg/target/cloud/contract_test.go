package cloud

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

func someContract(t *rapid.T) contract {
	name := rapid.StringMatching(job.NamePattern)
	f := workertest.Facts{Tenant: name.Draw(t, "tenant"), Job: name.Draw(t, "job"), ScheduledAt: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0).UTC(),
		Revision: rapid.IntRange(1, 1e6).Draw(t, "revision"), Number: rapid.IntRange(1, 100).Draw(t, "attempt"), FencingToken: rapid.Int64Range(1, 1<<62).Draw(t, "token")}
	return contractOf(workertest.Attempt(f), "")
}

func TestEveryWayTellsTheSameContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := someContract(t)
		var told map[string]any
		decoder := json.NewDecoder(strings.NewReader(c.text()))
		decoder.UseNumber()
		if err := decoder.Decode(&told); err != nil {
			t.Fatal(err)
		}
		custom := c.custom()
		variables := map[string]string{}
		for _, p := range c.variables() {
			variables[p.name] = p.value
		}
		for name, value := range told {
			text, _ := value.(string)
			if number, is := value.(json.Number); is {
				text = number.String()
			}
			inContext, inEnvironment := "belfry_"+name, "BELFRY_"+strings.ToUpper(name)
			if name == "traceparent" {
				inContext, inEnvironment = name, "TRACEPARENT"
			}
			if custom[inContext] != text || variables[inEnvironment] != text {
				t.Fatalf("%s is %q as JSON, %q in the context, %q in the environment", name, text, custom[inContext], variables[inEnvironment])
			}
		}
		if len(told) != len(custom) || len(told) != len(variables) {
			t.Fatalf("%v, %v, %v", told, slices.Sorted(maps.Keys(custom)), slices.Sorted(maps.Keys(variables)))
		}
		said, err := clientContext(c)
		decoded, failed := base64.StdEncoding.DecodeString(said)
		var context struct{ Custom map[string]string }
		if err != nil || failed != nil || len(said) > 3583 || json.Unmarshal(decoded, &context) != nil || !maps.Equal(context.Custom, custom) {
			t.Fatalf("the client context, %d bytes, reads as %v", len(said), context)
		}
	})
}

var (
	validName    = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,80}$`)
	validToken   = regexp.MustCompile(`^[!-~]{1,64}$`)
	validStarter = regexp.MustCompile(`^[a-zA-Z0-9/_-]{1,128}$`)
)

// What is started is named by the execution: the same for all its attempts, and
// of no other execution, tenant or installation.
func TestWhatIsStartedIsNamedByItsExecutionAlone(t *testing.T) {
	here, there := New(Options{Installation: "belfry", Clock: clock.System{}}), New(Options{Installation: "other", Clock: clock.System{}})
	target := &job.ECSTarget{Containers: []job.ContainerOverride{{Name: "main"}}}
	rapid.Check(t, func(t *rapid.T) {
		c := someContract(t)
		again := c
		again.Attempt, again.FencingToken, again.Deadline, again.Traceparent = c.Attempt+1, c.FencingToken+1, "later", "another"
		task := here.task(target, c, "", 0)
		if !validName.MatchString(here.nameOf(c)) || !validToken.MatchString(*task.ClientToken) || !validStarter.MatchString(*task.StartedBy) {
			t.Fatalf("name %q, token %q, started by %q", here.nameOf(c), *task.ClientToken, *task.StartedBy)
		}
		if here.nameOf(c) != here.nameOf(again) || *task.ClientToken != *here.task(target, again, "", 0).ClientToken {
			t.Fatal("another attempt has another name")
		}
		other := c
		if rapid.Bool().Draw(t, "a tenant beside it") {
			other.Tenant += "x"
		} else if other.ExecutionID = someContract(t).ExecutionID; other.ExecutionID == c.ExecutionID {
			return
		}
		elsewhere := there.task(target, c, "", 0)
		if here.nameOf(c) == here.nameOf(other) || *task.ClientToken == *here.task(target, other, "", 0).ClientToken || there.nameOf(c) == here.nameOf(c) || *elsewhere.ClientToken == *task.ClientToken {
			t.Fatalf("%+v and %+v have one name", c, other)
		}
	})
}

func TestGroupsAndKeysOfMessages(t *testing.T) {
	c := contract{Tenant: "acme", Job: "nightly", IdempotencyKey: "acme/nightly~20260712T013000Z"}
	long := c
	long.IdempotencyKey = strings.Repeat("k", 129)
	for sentence, row := range map[string]struct {
		name, group string
		of          contract
		in, once    string
	}{
		"a standard queue has neither":              {"orders", "", c, "", ""},
		"a standard queue with a group, for shares": {"orders", "acme", c, "acme", ""},
		"a FIFO queue keeps a job's order":          {"orders.fifo", "", c, "acme/nightly", "acme/nightly~20260712T013000Z"},
		"a FIFO queue with a group":                 {"orders.fifo", "acme", c, "acme", "acme/nightly~20260712T013000Z"},
		"a key that is too long":                    {"orders.fifo", "acme", long, "acme", strings.Repeat("a digest", 8)},
	} {
		t.Run(sentence, func(t *testing.T) {
			in, once := order(row.name, row.group, row.of)
			text := func(s *string) string {
				if s == nil {
					return ""
				}
				return *s
			}
			if text(in) != row.in || len(text(once)) != len(row.once) || len(row.of.IdempotencyKey) <= 128 && text(once) != row.once {
				t.Errorf("%q, %q; want %q, %q", text(in), text(once), row.in, row.once)
			}
		})
	}
}

func TestRegionsAreThoseOfTheTarget(t *testing.T) {
	for text, want := range map[string]string{"https://sqs.eu-west-1.amazonaws.com/111122223333/q": "eu-west-1", "https://sqs.cn-north-1.amazonaws.com.cn/111122223333/q": "cn-north-1",
		"http://localhost:4566/000000000000/q": "", "https://sqs.example.com/111122223333/q": "", "%": ""} {
		if got := regionOfQueue(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := regionOf("batch", "arn:aws:ecs:eu-north-1:111122223333:task-definition/report"); got != "eu-north-1" {
		t.Errorf("%q", got)
	}
	if got := regionOf("report"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestCodesAreWords(t *testing.T) {
	for code, want := range map[string]string{"QueueDoesNotExist": "SQS_QUEUE_DOES_NOT_EXIST", "AWS.SimpleQueueService.NonExistentQueue": "SQS_NON_EXISTENT_QUEUE", "KMSAccessDeniedException": "SQS_KMS_ACCESS_DENIED",
		"": "SQS_", "a b\x00ü": "SQS_A_B__", strings.Repeat("Long", 40): ("SQS_" + strings.Repeat("LONG_", 40))[:64]} {
		if got := word("SQS", code); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}

func FuzzWordsOfCodes(f *testing.F) {
	for _, code := range []string{"ThrottlingException", "aƋ", "AWS.SimpleQueueService.NonExistentQueue"} {
		f.Add(code)
	}
	valid := regexp.MustCompile(`^[A-Z0-9_]{1,64}$`)
	f.Fuzz(func(t *testing.T, code string) {
		if got := word("EVENTBRIDGE", code); !valid.MatchString(got) {
			t.Errorf("%q gives %q", code, got)
		}
	})
}
