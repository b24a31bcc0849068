package sim_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// stale answers a read that does not ask for consistency with what the same
// read gave the time before: the version that somebody else has replaced since.
type stale struct {
	next   aws.HTTPClient
	mu     sync.Mutex
	before map[string][]byte
	lagged *atomic.Int64
}

// Do implements aws.HTTPClient.
func (s *stale) Do(request *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	if operation != "GetItem" && operation != "BatchGetItem" && operation != "Query" {
		return s.next.Do(request)
	}
	asked, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(asked))
	response, err := s.next.Do(request)
	if err != nil || response.StatusCode != http.StatusOK || bytes.Contains(asked, []byte(`"ConsistentRead":true`)) {
		return response, err
	}
	now, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	old, known := s.before[string(asked)]
	s.before[string(asked)] = now
	s.mu.Unlock()
	if known && !bytes.Equal(old, now) {
		s.lagged.Add(1)
		now = old
	}
	// The sum that the service sends with an answer is that of another one now.
	response.Header.Del("X-Amz-Crc32")
	response.Header.Set("Content-Length", fmt.Sprint(len(now)))
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(now)), int64(len(now))
	return response, nil
}

// Whatever decides reads strongly, or is guarded by the condition of its write:
// through an hour of verbs every other read is one version behind.
func TestReadsThatAreOneVersionBehindDecideNothing(t *testing.T) {
	seeds := 4
	switch {
	case testing.Short():
		seeds = 1
	case prove():
		seeds = 100
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(seed), 11))
				until := time.Now().Add(time.Hour)
				var lagged atomic.Int64
				// Slow scanners go on with what a verb has overtaken.
				slow := process(fault.Delay(4*time.Second), "scan", "scan-1")
				w := world(t, sim.Options{Work: flaky, Second: r.IntN(60), Decide: slow, Client: func(next aws.HTTPClient) aws.HTTPClient {
					return &stale{next: next, before: map[string][]byte{}, lagged: &lagged}
				}})
				w.Backend.SetIndexLag(2 * time.Second)
				w.StartCrowd(t.Context(), 2, 1)
				o, upto := operate(t, w, r, until)
				time.Sleep(10 * time.Second) // slow calls are on their way still
				o.verify(upto)
				if lagged.Load() < 10 {
					t.Errorf("%d reads were behind: the trouble was not there", lagged.Load())
				}
			})
		})
	}
}
