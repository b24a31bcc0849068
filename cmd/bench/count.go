package main

import (
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// reading are the store's operations whose units are read units. Any other is
// taken for a write, so that a new one shows in a budget until it is named here.
var reading = map[string]bool{"head": true, "heads": true, "revision": true, "execution": true, "executions": true, "due": true, "waking": true,
	"layouts": true, "look back": true, "not begun": true, "begun": true, "overdue": true, "list executions": true, "recent": true, "history": true, "every head": true, "every execution": true,
	"restore progress": true, "last ended": true, "waiting": true, "sweeps": true, "ahead": true, "nothing left": true, "beside head": true, "calendar": true, "list calendars": true, "calendar users": true, "calendar use": true, "attention": true, "read checkpoint": true, "read fan-out": true, "read children": true, "breaker": true, "list breakers": true}

// tally adds up the units that the service answered, by the store's operations.
type tally struct {
	mu     sync.Mutex
	reads  parts
	writes parts
	tables map[string]parts // write units of each operation by table and index
}

func newTally() *tally { return &tally{reads: parts{}, writes: parts{}, tables: map[string]parts{}} }

// add is the store's meter.
func (t *tally) add(operation string, consumed []types.ConsumedCapacity) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range consumed {
		if reading[operation] {
			t.reads[operation] += aws.ToFloat64(c.CapacityUnits)
			continue
		}
		t.writes[operation] += aws.ToFloat64(c.CapacityUnits)
		of := t.tables[operation]
		if of == nil {
			of = parts{}
			t.tables[operation] = of
		}
		table := aws.ToString(c.TableName)
		if c.Table != nil {
			of[table] += aws.ToFloat64(c.Table.CapacityUnits)
		}
		for index, units := range c.GlobalSecondaryIndexes {
			of[table+"/"+index] += aws.ToFloat64(units.CapacityUnits)
		}
	}
}

// take returns what was added since the last time.
func (t *tally) take() (reads, writes parts, tables map[string]parts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	reads, writes, tables = t.reads, t.writes, t.tables
	t.reads, t.writes, t.tables = parts{}, parts{}, map[string]parts{}
	return reads, writes, tables
}

// callCounter counts the SDK's calls by service and operation, repeats included.
type callCounter struct {
	next aws.HTTPClient

	mu    sync.Mutex
	calls map[string]parts
}

func countCalls(next aws.HTTPClient) *callCounter {
	return &callCounter{next: next, calls: map[string]parts{}}
}

// Do counts the call and passes it on.
func (c *callCounter) Do(request *http.Request) (*http.Response, error) {
	service, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	c.mu.Lock()
	of := c.calls[service]
	if of == nil {
		of = parts{}
		c.calls[service] = of
	}
	of[operation]++
	c.mu.Unlock()
	return c.next.Do(request)
}

// The services as the protocol names them.
const (
	queues = "AmazonSQS"
	tables = "DynamoDB_20120810"
)

// take returns the calls of a service since the last time.
func (c *callCounter) take(service string) parts {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.calls[service]
	delete(c.calls, service)
	if taken == nil {
		taken = parts{}
	}
	return taken
}
