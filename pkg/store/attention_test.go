package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// attentionStore is a store over tables in memory.
func attentionStore(t *testing.T) *store.Store {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	client := dynamodb.NewFromConfig(backend.Config())
	if err := store.CreateTables(t.Context(), client, ""); err != nil {
		t.Fatal(err)
	}
	return store.New(client, store.Options{})
}

// walkAttention reads all pages of a list and tells the jobs and how many pages
// there were.
func walkAttention(t *testing.T, s *store.Store, q job.AttentionQuery) (names []string, pages int) {
	t.Helper()
	for {
		entries, more, err := s.Attention(t.Context(), q)
		if err != nil || len(entries) > q.Limit {
			t.Fatalf("page of %d entries, %v; want at most %d", len(entries), err, q.Limit)
		}
		for _, e := range entries {
			names = append(names, e.Ref.Job)
			if e.Ref.Tenant != q.Tenant || e.Reason != "PERMANENT" || e.ErrorCode != "HTTP_404" || e.At.IsZero() {
				t.Errorf("the entry is %+v", e)
			}
		}
		pages++
		if !more || len(entries) == 0 {
			return names, pages
		}
		q.Cursor = entries[len(entries)-1].Cursor
	}
}

func TestAttention(t *testing.T) {
	s := attentionStore(t)
	begin := time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Minute) }
	write := func(tenant, name string, status job.Status, n int) {
		t.Helper()
		e := &job.Execution{Ref: job.Ref{Tenant: tenant, Job: name}, Key: job.ScheduledKey(begin), Status: status, Reason: "PERMANENT", ErrorCode: "HTTP_404"}
		if err := s.WriteAttention(t.Context(), e, minute(n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 7 {
		write("acme", fmt.Sprintf("job-%d", n), job.Dead, n)
	}
	write("acme", "job-3", job.Dead, 3) // the same record of the stream again
	write("acme", "failed", job.Failed, 8)
	write("acme", "doubtful", job.NeedsReview, 5)
	write("acme", "job-2", job.NeedsReview, 2) // in doubt and decided within a millisecond
	write("other", "job-0", job.Dead, 10)

	letters := []string{"failed", "job-6", "job-5", "job-4", "job-3", "job-2", "job-1", "job-0"}
	both := []string{"failed", "job-6", "job-5", "doubtful", "job-4", "job-3", "job-2", "job-2", "job-1", "job-0"}
	for name, row := range map[string]struct {
		query job.AttentionQuery
		want  []string
	}{
		"dead letters, newest first":          {job.AttentionQuery{Letters: true}, letters},
		"reviews":                             {job.AttentionQuery{Reviews: true}, []string{"doubtful", "job-2"}},
		"both in one order":                   {job.AttentionQuery{Letters: true, Reviews: true}, both},
		"neither":                             {job.AttentionQuery{}, nil},
		"since a moment, which is included":   {job.AttentionQuery{Letters: true, Since: minute(6)}, letters[:2]},
		"until a moment, which is included":   {job.AttentionQuery{Letters: true, Until: minute(1)}, letters[6:]},
		"between two moments":                 {job.AttentionQuery{Letters: true, Reviews: true, Since: minute(2), Until: minute(5)}, both[2:8]},
		"between two moments of the one kind": {job.AttentionQuery{Reviews: true, Since: minute(3), Until: minute(9)}, both[3:4]},
		"until before since":                  {job.AttentionQuery{Letters: true, Since: minute(5), Until: minute(4)}, nil},
	} {
		for _, limit := range []int{1, 2, 3, 100} {
			row.query.Tenant, row.query.Limit = "acme", limit
			if got, _ := walkAttention(t, s, row.query); !slices.Equal(got, row.want) {
				t.Errorf("%s, by %d: %v, want %v", name, limit, got, row.want)
			}
		}
	}
	for _, cursor := range []string{"!", "", "RA", "RDAwMDAwMDAwMDAwMDA", "WDAwMDAwMDAwMDAwMDAjYQ"} {
		_, _, err := s.Attention(t.Context(), job.AttentionQuery{Tenant: "acme", Letters: true, Cursor: cursor, Limit: 3})
		if job.CodeOf(err) != job.CodeInvalid && cursor != "" {
			t.Errorf("the cursor %q gave %v, want it refused", cursor, err)
		}
	}
}

// However long the pages, they are the list: nothing twice, nothing left out.
func TestThePagesOfAttentionAreTheList(t *testing.T) {
	s := attentionStore(t)
	round := 0
	rapid.Check(t, func(r *rapid.T) {
		round++
		tenant := fmt.Sprintf("t%d", round)
		at := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 12).Draw(r, "milliseconds")
		status := rapid.SampledFrom([]job.Status{job.Dead, job.NeedsReview})
		want := 0
		seen := map[string]bool{}
		for _, n := range at {
			e := &job.Execution{Ref: job.Ref{Tenant: tenant, Job: rapid.SampledFrom([]string{"a", "b"}).Draw(r, "job")}, Key: job.ScheduledKey(noon), Status: status.Draw(r, "status"), Reason: "PERMANENT", ErrorCode: "HTTP_404"}
			if err := s.WriteAttention(t.Context(), e, noon.Add(time.Duration(n)*time.Millisecond)); err != nil {
				r.Fatal(err)
			}
			if name := fmt.Sprint(e.Job, e.Status, n); !seen[name] {
				seen[name], want = true, want+1
			}
		}
		q := job.AttentionQuery{Tenant: tenant, Letters: true, Reviews: true, Limit: rapid.IntRange(1, 5).Draw(r, "page")}
		if got, _ := walkAttention(t, s, q); len(got) != want {
			r.Fatalf("%d entries of %d", len(got), want)
		}
	})
}
