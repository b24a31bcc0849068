package queue

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// MaxDelay is the longest that SQS holds a message back.
const MaxDelay = 900 * time.Second

// letter is one message on its way out; at says whose answer it gets.
type letter struct {
	at    int
	body  string
	group string
	delay int32
}

// Send sends each parcel to the queue of its pool and answers per parcel: nil
// once the queue has it. The delay is whole seconds, rounded down, up to
// MaxDelay: a message is never later than its execution, and whoever receives
// it waits out the rest.
func (c *Client) Send(ctx context.Context, parcels []job.Parcel) []error {
	now := c.Clock.Now()
	byQueue := make(map[string][]letter)
	var order []string
	for i, p := range parcels {
		name := c.Names.Work(p.Pool)
		if p.Isolated {
			name = c.Names.Isolation(p.Pool)
		}
		if byQueue[name] == nil {
			order = append(order, name)
		}
		byQueue[name] = append(byQueue[name], letter{at: i, body: Seal(p), group: p.Ref.Tenant, delay: delay(p.NotBefore, now)})
	}
	errs := make([]error, len(parcels))
	c.post(ctx, order, byQueue, errs)
	return errs
}

// delay is how long SQS is asked to hold a message back: whole seconds.
func delay(notBefore, now time.Time) int32 {
	return int32(min(max(notBefore.Sub(now), 0), MaxDelay) / time.Second)
}

// SendScans sends the shard ranges of a minute and answers per message.
func (c *Client) SendScans(ctx context.Context, messages []ScanMessage) []error {
	letters := make([]letter, len(messages))
	for i, m := range messages {
		m.Schema = job.Schema
		letters[i] = letter{at: i, body: encode(m)}
	}
	errs := make([]error, len(messages))
	name := c.Names.Scan()
	c.post(ctx, []string{name}, map[string][]letter{name: letters}, errs)
	return errs
}

// SendTick asks for the tick of a minute once wait (up to MaxDelay) has passed.
func (c *Client) SendTick(ctx context.Context, m TickMessage, wait time.Duration) error {
	m.Schema = job.Schema
	errs := make([]error, 1)
	name := c.Names.Tick()
	one := letter{body: encode(m), delay: int32(min(max(wait, 0), MaxDelay) / time.Second)}
	c.post(ctx, []string{name}, map[string][]letter{name: {one}}, errs)
	return errs[0]
}

// encode writes scan and tick messages, whose fields cannot fail.
func encode(v any) string {
	body, _ := json.Marshal(v)
	return string(body)
}

// post sends letters in batches, several requests at once, and fills errs.
func (c *Client) post(ctx context.Context, order []string, byQueue map[string][]letter, errs []error) {
	limit := c.Sends
	if limit == 0 {
		limit = 8
	}
	places := make(chan struct{}, limit)
	var all sync.WaitGroup
	for _, name := range order {
		letters := byQueue[name]
		for len(letters) > 0 {
			batch := letters[:min(batchSize, len(letters))]
			letters = letters[len(batch):]
			places <- struct{}{}
			all.Go(func() {
				c.postBatch(ctx, name, batch, errs)
				<-places
			})
		}
	}
	all.Wait()
}

func (c *Client) postBatch(ctx context.Context, name string, batch []letter, errs []error) {
	failAll := func(err error) {
		for _, l := range batch {
			errs[l.at] = err
		}
	}
	url, err := c.url(ctx, name)
	if err != nil {
		failAll(err)
		return
	}
	in := &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: make([]types.SendMessageBatchRequestEntry, len(batch))}
	for i, l := range batch {
		in.Entries[i] = types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: &batch[i].body, DelaySeconds: l.delay}
		if l.group != "" {
			in.Entries[i].MessageGroupId = &batch[i].group
		}
	}
	out, err := c.SQS.SendMessageBatch(ctx, in)
	if err != nil {
		failAll(refused("send to", name, err))
		return
	}
	answered := make([]bool, len(batch))
	for _, ok := range out.Successful {
		mark(answered, ok.Id)
	}
	for i, l := range batch {
		if !answered[i] {
			errs[l.at] = refused("send to", name, errors.New("the queue did not accept the message"))
		}
	}
	for _, bad := range out.Failed {
		if i, known := entry(bad.Id, len(batch)); known {
			errs[batch[i].at] = refused("send to", name, entryError(bad))
		}
	}
}

// entry reads the id of a batch entry: its position.
func entry(id *string, n int) (int, bool) {
	i, err := strconv.Atoi(aws.ToString(id))
	return i, err == nil && i >= 0 && i < n
}

func mark(answered []bool, id *string) {
	if i, known := entry(id, len(answered)); known {
		answered[i] = true
	}
}

func entryError(e types.BatchResultErrorEntry) error {
	return errors.New(aws.ToString(e.Code) + ": " + aws.ToString(e.Message))
}
