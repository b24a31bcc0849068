package store_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// inDoubt carries transactions out, and answers as many of them as it is told
// with an error, as the service does while an earlier try is still going on.
type inDoubt struct {
	next   aws.HTTPClient
	times  int
	fault  string
	tokens []string
}

// Do implements aws.HTTPClient.
func (d *inDoubt) Do(request *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(request.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		return d.next.Do(request)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	var asked struct{ ClientRequestToken string }
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	d.tokens = append(d.tokens, asked.ClientRequestToken)
	request.Body = io.NopCloser(bytes.NewReader(body))
	response, err := d.next.Do(request)
	if err != nil || d.times == 0 {
		return response, err
	}
	d.times--
	answer := `{"__type":"com.amazonaws.dynamodb.v20120810#` + d.fault + `","Message":"in doubt"}`
	response.StatusCode, response.Body, response.ContentLength = http.StatusBadRequest, io.NopCloser(strings.NewReader(answer)), int64(len(answer))
	response.Header.Del("X-Amz-Crc32")
	return response, nil
}

// asked is a store whose transactions go through d, with one job on it.
func asked(t *testing.T, d *inDoubt) (*store.Store, error) {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config := backend.Config()
	d.next = backend.Client()
	config.HTTPClient = d
	client := dynamodb.NewFromConfig(config)
	if err := store.CreateTables(t.Context(), client, ""); err != nil {
		t.Fatal(err)
	}
	s := store.New(client, store.Options{Shards: 1})
	return s, s.ChangeHead(t.Context(), createOf(1))
}

func createOf(epoch int64) job.HeadChange {
	d := job.Definition{Job: ref.Job, Schedule: job.Schedule{Cron: "0 12 * * *"}}.WithDefaults()
	head := job.Head{Ref: ref, State: job.Enabled, Revision: int(epoch), Epoch: epoch, RunsFrom: epoch, Schedule: d.Schedule, Pool: d.Pool, NextFireAt: noon, CreatedAt: noon.Add(-time.Hour)}
	change := job.HeadChange{New: head, Verb: "put", Actor: "ada", At: noon.Add(-time.Hour), Revision: &job.Revision{Ref: ref, Number: int(epoch), Epoch: epoch, Definition: d}}
	if epoch > 1 {
		old := head
		old.Epoch, old.Revision = epoch-1, int(epoch-1)
		change.Old = &old
	}
	return change
}

func TestATransactionThatIsStillInProgressIsTriedAgainAndHappensOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &inDoubt{times: 2, fault: "TransactionInProgressException"}
		s, err := asked(t, d)
		if err != nil {
			t.Fatalf("the verb failed with %v although its write was there", err)
		}
		if head, err := s.Head(t.Context(), ref); err != nil || head == nil || head.Epoch != 1 {
			t.Errorf("the head is %+v, %v", head, err)
		}
		if len(d.tokens) != 3 || d.tokens[0] == "" || d.tokens[0] != d.tokens[1] || d.tokens[1] != d.tokens[2] {
			t.Errorf("the tries carried the tokens %q, want one token three times", d.tokens)
		}
		if err := s.ChangeHead(t.Context(), createOf(2)); err != nil {
			t.Fatal(err)
		}
		if len(d.tokens) != 4 || d.tokens[3] == d.tokens[2] {
			t.Errorf("another verb carried the token %q again", d.tokens)
		}
	})
}

// One token for two different writes is a mistake of ours, which trying again
// does not mend.
func TestATokenThatWasUsedForAnotherWriteIsAFaultOfOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := asked(t, &inDoubt{times: 9, fault: "IdempotentParameterMismatchException"})
		if job.CodeOf(err) != job.CodeInternal {
			t.Errorf("answered %v, want %s", err, job.CodeInternal)
		}
	})
}
