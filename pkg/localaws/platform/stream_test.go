package platform_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
)

type streamHandler = func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// river is a table with a poller on its stream. Each batch that the function
// gets is noted as "keys@seconds".
type river struct {
	*testing.T
	client  *dynamodb.Client
	poller  platform.StreamPoller
	begin   time.Time
	mu      sync.Mutex
	batches []string
	errs    []error
}

func newRiver(t *testing.T, function streamHandler) *river {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	r := &river{T: t, client: dynamodb.NewFromConfig(backend.Config()), begin: time.Now()}
	out, err := r.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String("jobs"),
		AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		BillingMode:          ddb.BillingModePayPerRequest,
		StreamSpecification:  &ddb.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: "NEW_AND_OLD_IMAGES"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.poller = platform.StreamPoller{
		Client: dynamodbstreams.NewFromConfig(backend.Config()), Stream: *out.TableDescription.LatestStreamArn,
		Function: func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			r.mu.Lock()
			r.batches = append(r.batches, fmt.Sprintf("%s@%d", keys(event), int(time.Since(r.begin).Seconds())))
			r.mu.Unlock()
			return function(ctx, event)
		},
		OnError: func(err error) { r.errs = append(r.errs, err) },
	}
	return r
}

func keys(event events.DynamoDBEvent) string {
	var out []string
	for _, record := range event.Records {
		out = append(out, record.Change.Keys["pk"].String())
	}
	return strings.Join(out, "")
}

func (r *river) put(keys string) {
	r.Helper()
	for _, key := range keys {
		if _, err := r.client.PutItem(r.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("jobs"), Item: map[string]ddb.AttributeValue{"pk": &ddb.AttributeValueMemberS{Value: string(key)}},
		}); err != nil {
			r.Fatal(err)
		}
	}
}

func (r *river) runFor(d time.Duration) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), d)
	defer cancel()
	if err := r.poller.Run(ctx); err != nil {
		r.Fatal(err)
	}
}

var errNo = errors.New("no")

// failOn fails every batch that holds the key.
func failOn(key string) streamHandler {
	return func(_ context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		if strings.Contains(keys(event), key) {
			return events.DynamoDBEventResponse{}, errNo
		}
		return events.DynamoDBEventResponse{}, nil
	}
}

// report reports the keys as failed.
func report(failed string) streamHandler {
	return func(_ context.Context, event events.DynamoDBEvent) (response events.DynamoDBEventResponse, err error) {
		for _, record := range event.Records {
			if strings.Contains(failed, record.Change.Keys["pk"].String()) {
				response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: record.Change.SequenceNumber})
			}
		}
		return response, nil
	}
}

func reportEmpty(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{{}}}, nil
}

func TestStreamBatches(t *testing.T) {
	for name, row := range map[string]struct {
		function streamHandler
		change   func(*platform.StreamPoller)
		want     []string
		givenUp  []string
	}{
		"come in order, as large as told": {
			failOn("-"), func(p *platform.StreamPoller) { p.BatchSize = 2 }, []string{"ab@0", "cd@0", "e@0"}, nil,
		},
		"that fail hold the rest up, with growing pauses": {
			failOn("c"), func(p *platform.StreamPoller) { p.BatchSize, p.MaxRetries = 2, -1 }, []string{"ab@0", "cd@0", "cd@1", "cd@3", "cd@7", "cd@15"}, nil,
		},
		"that fail too often are given up": {
			failOn("c"), func(p *platform.StreamPoller) { p.BatchSize, p.MaxRetries = 2, 2 }, []string{"ab@0", "cd@0", "cd@1", "cd@3", "e@3"}, []string{"2 after 3"},
		},
		"that panic count as failed": {
			func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error) { panic("no") },
			func(*platform.StreamPoller) {}, []string{"abcde@0"}, []string{"5 after 1"},
		},
		"are halved until the bad record stands alone": {
			failOn("c"), func(p *platform.StreamPoller) { p.Bisect, p.MaxRetries = true, 1 },
			[]string{"abcde@0", "ab@0", "cde@0", "c@0", "c@1", "de@1"}, []string{"1 after 2"},
		},
		"go on from the first record that is reported": {
			report("db"), func(p *platform.StreamPoller) { p.PartialFailures, p.MaxRetries = true, 1 },
			[]string{"abcde@0", "bcde@1"}, []string{"4 after 2"},
		},
		"fail as a whole for a report of an empty id": {
			reportEmpty, func(p *platform.StreamPoller) { p.PartialFailures = true }, []string{"abcde@0"}, []string{"5 after 1"},
		},
		"succeed in spite of a report that nobody asked for": {
			report("b"), func(*platform.StreamPoller) {}, []string{"abcde@0"}, nil,
		},
		"that have become too old are given up": {
			failOn("a"), func(p *platform.StreamPoller) { p.MaxRetries, p.MaxAge = -1, 5*time.Second }, []string{"abcde@0", "abcde@1", "abcde@3"}, []string{"5 after 3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRiver(t, row.function)
				var givenUp []string
				row.change(&r.poller)
				r.poller.OnFailure = func(g platform.GivenUp) {
					givenUp = append(givenUp, fmt.Sprintf("%d after %d", g.Records, g.Invocations))
				}
				r.put("abcde")
				r.runFor(20 * time.Second)
				if !slices.Equal(r.batches, row.want) || !slices.Equal(givenUp, row.givenUp) {
					t.Errorf("batches %q, given up %q; want %q, %q (%v)", r.batches, givenUp, row.want, row.givenUp, r.errs)
				}
			})
		})
	}
}

// notebook is Checkpoints that outlive a poller.
type notebook struct{ at map[string]string }

func (n *notebook) Load(_ context.Context, shard string) (string, error) { return n.at[shard], nil }
func (n *notebook) Save(_ context.Context, shard, sequence string) error {
	n.at[shard] = sequence
	return nil
}

func TestStreamGoesOnFromItsCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRiver(t, failOn("-"))
		r.poller.Checkpoints = &notebook{at: make(map[string]string)}
		r.put("ab")
		r.runFor(time.Second)
		r.put("cd")
		r.runFor(time.Second)
		if want := []string{"ab@0", "cd@1"}; !slices.Equal(r.batches, want) {
			t.Errorf("batches %q, want %q", r.batches, want)
		}
	})
}

func TestStreamCanBeginWithWhatIsYetToCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRiver(t, failOn("-"))
		r.poller.Latest = true
		r.put("ab")
		var beside sync.WaitGroup
		beside.Go(func() { time.Sleep(3 * time.Second); r.put("c") })
		r.runFor(10 * time.Second)
		beside.Wait()
		if want := []string{"c@3"}; !slices.Equal(r.batches, want) {
			t.Errorf("batches %q, want %q", r.batches, want)
		}
	})
}

func TestStreamThatIsNotThereIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRiver(t, failOn("-"))
		r.poller.Stream = strings.Replace(r.poller.Stream, "table/jobs", "table/none", 1)
		if err := r.poller.Run(t.Context()); err == nil {
			t.Error("the poller ran")
		}
	})
}

func TestDynamoDBEventIsWhatLambdaPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got events.DynamoDBEvent
		r := newRiver(t, func(_ context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			got = event
			return events.DynamoDBEventResponse{}, nil
		})
		s := func(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }
		item := map[string]ddb.AttributeValue{
			"pk": s("a"), "n": &ddb.AttributeValueMemberN{Value: "12345678901234567890.5"}, "b": &ddb.AttributeValueMemberB{Value: []byte{0, 0xff}},
			"t": &ddb.AttributeValueMemberBOOL{Value: true}, "z": &ddb.AttributeValueMemberNULL{Value: true},
			"ss": &ddb.AttributeValueMemberSS{Value: []string{"x"}}, "ns": &ddb.AttributeValueMemberNS{Value: []string{"1"}},
			"bs": &ddb.AttributeValueMemberBS{Value: [][]byte{{1}}},
			"l":  &ddb.AttributeValueMemberL{Value: []ddb.AttributeValue{s("x"), &ddb.AttributeValueMemberM{Value: map[string]ddb.AttributeValue{"deep": s("y")}}}},
		}
		for _, put := range []map[string]ddb.AttributeValue{item, {"pk": s("a"), "small": s("x")}} {
			if _, err := r.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("jobs"), Item: put}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("jobs"), Key: map[string]ddb.AttributeValue{"pk": s("a")}}); err != nil {
			t.Fatal(err)
		}
		r.runFor(time.Second)
		for i := range got.Records { // what the stream itself makes up
			record := &got.Records[i]
			if record.EventID == "" || record.Change.SequenceNumber == "" || record.Change.SizeBytes == 0 {
				t.Errorf("record %d has no id, sequence number or size", i)
			}
			record.EventID, record.Change.SequenceNumber, record.Change.SizeBytes = "id", "sequence", 1
		}
		golden(t, "stream.json", got)
	})
}
