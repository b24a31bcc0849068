package httpapi

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// patchedJob is what each row starts from.
const patchedJob = `{"schedule":{"cron":"30 3 * * *","zone":"Europe/Berlin","gap":"SKIP"},"target":{"log":{"message":"night"}},"timeout":"5m","labels":{"team":"data","demo":"yes"},"payload":{"a":1,"b":[1]},"description":"old"}`

func TestAPatchChangesWhatItNames(t *testing.T) {
	for says, row := range map[string]struct {
		patch  string
		action string
		want   string // part of the definition afterwards
		code   job.Code
		field  string
	}{
		"one value":                           {patch: `{"timeout":"1m"}`, action: "updated", want: `"timeout":"1m"`},
		"a part of an object":                 {patch: `{"labels":{"demo":null,"env":"x"}}`, action: "updated", want: `"labels":{"env":"x","team":"data"}`},
		"null brings the default back":        {patch: `{"timeout":null,"description":null}`, action: "updated", want: `"timeout":"1m"`},
		"an array is replaced as a whole":     {patch: `{"payload":{"b":[2,3]}}`, action: "updated", want: `"payload":{"a":1,"b":[2,3]}`},
		"another expression of the same kind": {patch: `{"schedule":{"cron":"0 4 * * *"}}`, action: "updated", want: `"schedule":{"cron":"0 4 * * *","dialect":"unix","zone":"Europe/Berlin","gap":"SKIP"}`},
		"a schedule of another kind":          {patch: `{"schedule":{"every":"10s"}}`, action: "updated", want: `"schedule":{"every":"10s","zone":"Europe/Berlin"}`},
		"another target":                      {patch: `{"target":{"log":null,"handler":{"name":"report"}}}`, action: "updated", want: `"target":{"handler":{"name":"report"}}`},
		"nothing":                             {patch: `{}`, action: "unchanged", want: `"description":"old"`},
		"what is so already":                  {patch: `{"timeout":"300s"}`, action: "unchanged", want: `"timeout":"5m"`},
		"an unknown key":                      {patch: `{"tiemout":"1m"}`, code: job.CodeUnknownField, field: "tiemout"},
		"a value of another kind":             {patch: `{"timeout":5}`, code: job.CodeInvalid, field: "timeout"},
		"a value out of bounds":               {patch: `{"timeout":"13h"}`, code: job.CodeInvalid, field: "timeout"},
		"two targets":                         {patch: `{"target":{"handler":{"name":"report"}}}`, code: job.CodeInvalid, field: "target"},
		"no object":                           {patch: `[1]`, code: job.CodeInvalid, field: "body"},
		"null":                                {patch: `null`, code: job.CodeInvalid, field: "body"},
		"another job's name":                  {patch: `{"job":"other"}`, code: job.CodeInvalid, field: "job"},
		"no schedule at all":                  {patch: `{"schedule":null}`, code: job.CodeInvalid, field: "schedule"},
		"a key in another case":               {patch: `{"Timeout":"1m"}`, code: job.CodeUnknownField, field: "Timeout"},
		"an inner key in another case":        {patch: `{"schedule":{"Cron":"0 4 * * *"}}`, code: job.CodeUnknownField, field: "schedule.Cron"},
		"an inner key that is unknown":        {patch: `{"retry":{"attempts":3}}`, code: job.CodeUnknownField, field: "retry.attempts"},
		"no attempts":                         {patch: `{"retry":{"max_attempts":0}}`, code: job.CodeInvalid, field: "retry.max_attempts"},
		"no catching up":                      {patch: `{"misfire":{"max":0}}`, code: job.CodeInvalid, field: "misfire.max"},
		"no rate of catching up":              {patch: `{"misfire":{"policy":"FIRE_ALL","rate":0}}`, code: job.CodeInvalid, field: "misfire.rate"},
		"nothing late enough to run":          {patch: `{"misfire":{"window":"0s"}}`, code: job.CodeInvalid, field: "misfire.window"},
		"a text that is empty":                {patch: `{"timeout":""}`, code: job.CodeInvalid, field: "timeout"},
		"an empty zone":                       {patch: `{"schedule":{"zone":""}}`, code: job.CodeInvalid, field: "schedule.zone"},
		"no window any more":                  {patch: `{"misfire":{"policy":"FIRE_ALL","window":null}}`, action: "updated", want: `"misfire":{"policy":"FIRE_ALL","max":1000,"tolerance":"1m"}`},
		"suspended after none":                {patch: `{"suspend_after":0}`, code: job.CodeInvalid, field: "suspend_after"},
		"a whole number with a point":         {patch: `{"retry":{"max_attempts":3.5}}`, code: job.CodeInvalid, field: "retry.max_attempts"},
	} {
		t.Run(says, func(t *testing.T) {
			w := newWorld(t).with(t, "nightly", patchedJob)
			answer := w.ask("PATCH", "/v1/jobs/nightly", row.patch)
			if row.code != "" {
				if p := problemOf(t, answer); p.Code != row.code || !strings.HasPrefix(p.Field, row.field) || p.Fix == "" {
					t.Errorf("got %+v", p)
				}
				return
			}
			if got := decode[client.PutResult](t, answer); got.Action != row.action {
				t.Errorf("got %+v", got)
			}
			after := w.ask("GET", "/v1/jobs/nightly", "").Body.String()
			if !strings.Contains(after, row.want) || strings.Contains(row.patch, `"description":null`) && strings.Contains(after, "description") {
				t.Errorf("want %s in %s", row.want, after)
			}
		})
	}
}

func TestAPatchOfAnotherRevisionIsRefused(t *testing.T) {
	w := newWorld(t).with(t, "nightly", patchedJob)
	if p := problemOf(t, w.ask("PATCH", "/v1/jobs/nightly", `{"timeout":"1m"}`, "If-Match: \"7\"")); p.Code != job.CodeRevisionConflict {
		t.Errorf("got %+v", p)
	}
	if p := problemOf(t, w.ask("PATCH", "/v1/jobs/other", `{"timeout":"1m"}`)); p.Code != job.CodeNotFound {
		t.Errorf("got %+v", p)
	}
	if got := decode[client.PutResult](t, w.ask("PATCH", "/v1/jobs/nightly?dry_run=true", `{"schedule":{"cron":"0 4 * * *"}}`)); !got.DryRun || len(got.Appear) == 0 {
		t.Errorf("got %+v", got)
	}
	if answer := w.ask("PATCH", "/v1/jobs/nightly?dry_run=true", `{"timeout":"2m"}`, "Content-Type: application/merge-patch+json"); answer.Code != 200 {
		t.Errorf("as a merge patch: %d", answer.Code)
	}
	if answer := w.ask("PUT", "/v1/jobs/nightly", patchedJob, "Content-Type: application/merge-patch+json"); answer.Code != 415 {
		t.Errorf("a put of a patch gives %d", answer.Code)
	}
	if after := w.ask("GET", "/v1/jobs/nightly", "").Body.String(); !strings.Contains(after, `"revision":1`) {
		t.Errorf("a dry run wrote: %s", after)
	}
}

// Whatever the order in which they come, no patch undoes another.
func TestPatchesAtOneTimeAllTakeEffect(t *testing.T) {
	w := newWorld(t).with(t, "nightly", patchedJob)
	var group sync.WaitGroup
	for _, patch := range []string{`{"labels":{"a":"1"}}`, `{"labels":{"b":"2"}}`, `{"timeout":"2m"}`} {
		group.Go(func() { w.ask("PATCH", "/v1/jobs/nightly", patch) })
	}
	group.Wait()
	var after client.Job
	if err := json.Unmarshal(w.ask("GET", "/v1/jobs/nightly", "").Body.Bytes(), &after); err != nil {
		t.Fatal(err)
	}
	d := after.Definition
	if d.Labels["a"] != "1" || d.Labels["b"] != "2" || d.Labels["team"] != "data" || d.Timeout.String() != "2m" || after.Revision != 4 {
		t.Errorf("revision %d: %+v", after.Revision, d)
	}
}

// A patch that names paused either has the job so, or is refused: the definition may
// have said so all the while, and a verb or failures have done otherwise.
func TestAPatchThatNamesPausedIsNotSilentlyNothing(t *testing.T) {
	for says, row := range map[string]struct {
		made, verb, patch string
		state             job.State
		refused           bool
	}{
		"pausing":                                  {made: patchedJob, patch: `{"paused":true}`, state: job.Paused},
		"no pause of what runs":                    {made: patchedJob, patch: `{"paused":false}`, state: job.Enabled},
		"pausing what a verb has resumed":          {made: strings.Replace(patchedJob, "{", `{"paused":true,`, 1), verb: "resume", patch: `{"paused":true}`, refused: true},
		"resuming what a verb has paused":          {made: patchedJob, verb: "pause", patch: `{"paused":false}`, refused: true},
		"pausing again":                            {made: strings.Replace(patchedJob, "{", `{"paused":true,`, 1), patch: `{"paused":true}`, state: job.Paused},
		"something else of what a verb has paused": {made: patchedJob, verb: "pause", patch: `{"timeout":"2m"}`, state: job.Paused},
	} {
		t.Run(says, func(t *testing.T) {
			w := newWorld(t).with(t, "nightly", row.made)
			if row.verb != "" {
				if answer := w.ask("POST", "/v1/jobs/nightly/"+row.verb, ""); answer.Code != 200 {
					t.Fatal(answer.Body)
				}
			}
			answer := w.ask("PATCH", "/v1/jobs/nightly", row.patch)
			if row.refused {
				if p := problemOf(t, answer); p.Code != job.CodeStateConflict || p.Field != "paused" || p.Fix == "" {
					t.Errorf("got %+v", p)
				}
				return
			}
			if got := decode[client.PutResult](t, answer); got.State != row.state {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// restless is a store of jobs whose heads are of another revision at each read.
type restless struct {
	control.Jobs
	reads *int
}

func (r restless) Head(ctx context.Context, ref job.Ref) (*job.Head, error) {
	head, err := r.Jobs.Head(ctx, ref)
	if head != nil {
		*r.reads++
		head.Revision += *r.reads
	}
	return head, err
}

func (r restless) Revision(ctx context.Context, ref job.Ref, _ int) (*job.Revision, error) {
	return r.Jobs.Revision(ctx, ref, 1)
}

// Who names no revision is not told of a conflict with one: the patch may be sent
// again as it is.
func TestAPatchThatOthersAlwaysOvertakeMayBeSentAgain(t *testing.T) {
	w := newWorld(t).with(t, "nightly", patchedJob)
	reads := 0
	w.service.Jobs = restless{w.service.Jobs, &reads}
	answer := w.ask("PATCH", "/v1/jobs/nightly", `{"timeout":"2m"}`)
	if p := problemOf(t, answer); p.Code != job.CodeUnavailable || answer.Header().Get("Retry-After") == "" || reads < maxPatches {
		t.Errorf("after %d reads: %+v", reads, p)
	}
	if p := problemOf(t, w.ask("PATCH", "/v1/jobs/nightly", `{"timeout":"2m"}`, `If-Match: "1"`)); p.Code != job.CodeRevisionConflict {
		t.Errorf("got %+v", p)
	}
}
