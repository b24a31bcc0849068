package store_test

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func encoded(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }

// tampered are page cursors as somebody might send them.
var tampered = map[string]string{
	"no base64":                         "***",
	"no JSON":                           encoded("x"),
	"an empty object":                   encoded("{}"),
	"another type":                      encoded(`[1]`),
	"an attribute without a type":       encoded(`{"pk":"x"}`),
	"an empty attribute":                encoded(`{"pk":""}`),
	"a number that is none":             encoded(`{"pk":"nX","sk":"sX"}`),
	"another partition":                 encoded(`{"pk":"sother/job","sk":"sX"}`),
	"an attribute too many":             encoded(`{"pk":"sdefault/nightly","sk":"s20000101T120000Z#s","x":"sX"}`),
	"its own partition and no sort key": encoded(`{"pk":"sdefault/nightly"}`),
	"a sort key that is a number":       encoded(`{"pk":"sdefault/nightly","sk":"n1"}`),
	"a shard below zero":                encoded(`{"s":-1}`),
	"a shard beyond the last":           encoded(`{"s":99}`),
	"a start of another tenant":         encoded(`{"s":0,"k":"` + encoded(`{"pk":"sother/job","sk":"sHEAD","tenant_shard":"sother#0","job":"sjob"}`) + `"}`),
	"a start that is none":              encoded(`{"s":0,"k":"` + encoded(`{"x":"sy"}`) + `"}`),
	"a start that is no base64":         encoded(`{"s":0,"k":"*"}`),
	"a place without a time":            encoded(`{"job":"x","key":"y"}`),
	"a place far in the future":         encoded(`{"at":"9999-01-01T00:00:00Z","job":"x","key":"y"}`),
	"the attention of another tenant":   encoded(`{"pk":"sDEAD#other","sk":"s1"}`),
	"its own attention and too much":    encoded(`{"pk":"sDEAD#default","sk":"s1","x":"sy"}`),
	"its own attention and no key":      encoded(`{"pk":"sDEAD#default"}`),
}

// A page cursor comes back from outside: whatever is done to it, the answer is a
// refusal of the input or a page of the caller's own list.
func TestATamperedCursorIsRefusedOrHarmless(t *testing.T) {
	onShelf(t, func(s *shelf) {
		s.create()
		s.put()
		other := *fresh(1)
		other.Ref = job.Ref{Tenant: "other", Job: "job"}
		_, err := s.Put(s.Context(), &other)
		s.must(err)
		s.must(s.WriteAttention(s.Context(), fresh(1), noon))
		for name, cursor := range tampered {
			lists := map[string]func() (string, error){
				"executions": func() (seen string, err error) {
					found, _, err := s.ListExecutions(s.Context(), job.ExecutionQuery{Ref: ref, Cursor: cursor, Limit: 10})
					for _, e := range found {
						seen += e.Tenant
					}
					return seen, err
				},
				"jobs": func() (seen string, err error) {
					found, _, err := s.ListJobs(s.Context(), "default", cursor, 10)
					for _, h := range found {
						seen += h.Tenant
					}
					return seen, err
				},
				"recent": func() (seen string, err error) {
					found, _, err := s.Recent(s.Context(), "default", job.ExecutionQuery{Cursor: cursor, Limit: 10, Before: noon.Add(time.Hour)})
					for _, e := range found {
						seen += e.Tenant
					}
					return seen, err
				},
				"attention": func() (seen string, err error) {
					found, _, err := s.Attention(s.Context(), job.AttentionQuery{Tenant: "default", Letters: true, Reviews: true, Cursor: cursor, Limit: 10})
					for _, e := range found {
						seen += e.Ref.Tenant
					}
					return seen, err
				},
			}
			for list, read := range lists {
				seen, err := read()
				if err != nil && job.CodeOf(err) != job.CodeInvalid {
					s.Errorf("%s, cursor with %s: %v", list, name, err)
				}
				if seen != "" && seen != "default" {
					s.Errorf("%s, cursor with %s: showed %s", list, name, seen)
				}
			}
		}
	})
}

// The pages of a list are the list: nothing twice, nothing left out.
func TestPagesOfExecutionsAreTheList(t *testing.T) {
	onShelf(t, func(s *shelf) {
		for i := range 25 {
			e := *fresh(1)
			e.Key = job.ScheduledKey(noon.Add(time.Duration(i) * time.Minute))
			_, err := s.Put(s.Context(), &e)
			s.must(err)
			if i%3 == 0 {
				s.must(s.Close(s.Context(), s.at(e.Key), lifecycle.CanceledBy(noon, "ada")))
			}
		}
		for _, statuses := range [][]job.Status{nil, {job.Canceled}, {job.Scheduled, job.Canceled}, {job.Dead}} {
			whole, _, err := s.ListExecutions(s.Context(), job.ExecutionQuery{Ref: ref, Statuses: statuses, Limit: 100})
			s.must(err)
			for _, limit := range []int{1, 2, 7, 24, 25} {
				var paged []job.Execution
				for cursor, pages := "", 0; ; pages++ {
					page, next, err := s.ListExecutions(s.Context(), job.ExecutionQuery{Ref: ref, Statuses: statuses, Limit: limit, Cursor: cursor})
					s.must(err)
					paged = append(paged, page...)
					if cursor = next; next == "" || pages > 30 {
						break
					}
				}
				if fmt.Sprint(keys(paged)) != fmt.Sprint(keys(whole)) {
					s.Errorf("%v in pages of %d: %v, want %v", statuses, limit, keys(paged), keys(whole))
				}
			}
		}
	})
}

func keys(executions []job.Execution) []string {
	list := make([]string, len(executions))
	for i, e := range executions {
		list[i] = e.Key.String()
	}
	return list
}
