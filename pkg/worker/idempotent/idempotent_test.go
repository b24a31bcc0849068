package idempotent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

func TestAnActionIsTheSameForEveryAttemptAndReplayAndNoOther(t *testing.T) {
	first := workertest.Facts{Job: "billing", FencingToken: 1}
	for _, c := range []struct {
		name string
		in   idempotent.Action
		want string
	}{
		{"the first attempt", idempotent.Of(workertest.Attempt(first), "charge"), "default/billing~20260712T013000Z#charge"},
		{"a later attempt", idempotent.Of(workertest.Attempt(workertest.Facts{Job: "billing", FencingToken: 4, Number: 4}), "charge"), "default/billing~20260712T013000Z#charge"},
		{"a later revision", idempotent.Of(workertest.Attempt(workertest.Facts{Job: "billing", Revision: 9}), "charge"), "default/billing~20260712T013000Z#charge"},
		{"a replay", idempotent.Of(workertest.Attempt(workertest.Facts{Job: "billing", ScheduledAt: time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC),
			ReplayOf: "billing~20260712T013000Z~v1"}), "charge"), "default/billing~20260712T013000Z#charge"},
		{"another name", idempotent.Of(workertest.Attempt(first), "mail"), "default/billing~20260712T013000Z#mail"},
		{"no name", idempotent.Of(workertest.Attempt(first), ""), "default/billing~20260712T013000Z"},
	} {
		if c.in.Key != c.want || c.in.Check() != nil {
			t.Errorf("%s has the key %q (%v), want %q", c.name, c.in.Key, c.in.Check(), c.want)
		}
	}
}

func TestAnActionOfNobodyIsRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    idempotent.Action
		field string
	}{
		{"without a key", idempotent.Action{Fence: "f"}, "action.key"},
		{"without a fence", idempotent.Action{Key: "k"}, "fence"},
		{"with a key of 513 bytes", idempotent.Action{Key: strings.Repeat("k", 513), Fence: "f"}, "action.key"},
	} {
		var refused *job.Error
		if err := c.in.Check(); !errors.As(err, &refused) || refused.Code != job.CodeInvalid || refused.Field != c.field || refused.Fix == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := (idempotent.Action{Key: strings.Repeat("k", 512), Fence: "f"}).Check(); err != nil {
		t.Errorf("512 bytes are refused: %v", err)
	}
}

func TestALostWriteIsPermanentForTheAttempt(t *testing.T) {
	err := fmt.Errorf("book the charge: %w", &idempotent.StaleError{What: "the row of accounts", Fence: "1", Holder: "2"})
	var stale *idempotent.StaleError
	if !errors.Is(err, idempotent.ErrFenced) || !errors.As(err, &stale) || stale.Holder != "2" {
		t.Errorf("%v is no ErrFenced", err)
	}
	if f := worker.FailureOf(err); f.Class != lifecycle.PermanentClass || f.Code != idempotent.CodeFenced || !strings.Contains(f.Text, "the row of accounts was written by 2") {
		t.Errorf("a worker takes it for %+v", f)
	}
}

func TestStatesHaveWords(t *testing.T) {
	for state, want := range map[idempotent.State]string{idempotent.New: "new", idempotent.Existing: "existing", idempotent.Unfinished: "unfinished", 0: "State(0)"} {
		if got := state.String(); got != want {
			t.Errorf("%d is %q, want %q", int(state), got, want)
		}
	}
}
