package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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

func TestAttention(t *testing.T) {
	s := attentionStore(t)
	begin := time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)
	write := func(tenant, name string, status job.Status, minute int) {
		t.Helper()
		e := &job.Execution{Ref: job.Ref{Tenant: tenant, Job: name}, Key: job.ScheduledKey(begin), Status: status, Reason: "PERMANENT", ErrorCode: "HTTP_404"}
		if err := s.WriteAttention(t.Context(), e, begin.Add(time.Duration(minute)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 7 {
		write("acme", fmt.Sprintf("job-%d", n), job.Dead, n)
	}
	write("acme", "job-3", job.Dead, 3) // the same record of the stream again
	write("acme", "failed", job.Failed, 8)
	write("acme", "doubtful", job.NeedsReview, 9)
	write("other", "job-0", job.Dead, 10)

	read := func(reviews bool, limit int) (names []string, pages int) {
		t.Helper()
		for cursor := ""; ; pages++ {
			entries, next, err := s.Attention(t.Context(), "acme", reviews, cursor, limit)
			if err != nil || len(entries) > limit {
				t.Fatalf("page of %d entries, %v; want at most %d", len(entries), err, limit)
			}
			for _, e := range entries {
				names = append(names, e.Ref.Job)
				if e.Ref.Tenant != "acme" || e.Key != job.ScheduledKey(begin) || e.Reason != "PERMANENT" || e.ErrorCode != "HTTP_404" || e.At.Before(begin) {
					t.Errorf("the entry is %+v", e)
				}
			}
			if cursor = next; cursor == "" {
				return names, pages + 1
			}
		}
	}
	want := []string{"failed", "job-6", "job-5", "job-4", "job-3", "job-2", "job-1", "job-0"}
	for _, limit := range []int{3, 100} {
		if got, pages := read(false, limit); !slices.Equal(got, want) || pages != (len(want)+limit-1)/limit {
			t.Errorf("dead letters by %d are %v on %d pages, want %v", limit, got, pages, want)
		}
	}
	if got, _ := read(true, 10); !slices.Equal(got, []string{"doubtful"}) {
		t.Errorf("reviews are %v, want only the doubtful one", got)
	}
	_, cursor, err := s.Attention(t.Context(), "acme", false, "", 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() error{
		"another tenant's": func() error { _, _, err := s.Attention(t.Context(), "other", false, cursor, 3); return err },
		"another list's":   func() error { _, _, err := s.Attention(t.Context(), "acme", true, cursor, 3); return err },
		"a foreign one":    func() error { _, _, err := s.Attention(t.Context(), "acme", false, "!", 3); return err },
	} {
		var refusal *job.Error
		if err := try(); !errors.As(err, &refusal) || refusal.Field != "cursor" {
			t.Errorf("%s cursor gave %v, want it refused", name, err)
		}
	}
}
