package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

type patchInput struct {
	Job         string          `path:"job" doc:"Name of the job"`
	IfMatch     string          `header:"If-Match" doc:"Revision that must be current, in quotes; default: the one that the patch was applied to"`
	DryRun      bool            `query:"dry_run" doc:"Only say what would happen"`
	EffectiveAt string          `query:"effective_at" doc:"It takes effect after this RFC 3339 instant, as in put-job"`
	Body        json.RawMessage `contentType:"application/merge-patch+json" doc:"A merge patch (RFC 7396) of the definition: what it does not name stays, null takes away. A schedule of another kind (cron, every, at) replaces the one that was there"`
}

func (a *api) registerPatch() {
	register(a, huma.Operation{OperationID: "patch-job", Method: http.MethodPatch, Path: "/v1/jobs/{job}", Tags: []string{"jobs"}, Summary: "Change some of a job's definition",
		Description: "Edits the current revision as a put of the whole would. Two patches at a time never undo one another: each is applied to what the other left."}, a.patchJob)
	a.whole = a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Definition](), true, "Definition")
}

// mergePatch is the media type of RFC 7396; application/json will do as well.
const mergePatch = "application/merge-patch+json"

// maxPatches bounds how often a patch is applied anew because the job changed
// under it.
const maxPatches = 8

func (a *api) patchJob(ctx context.Context, in *patchInput) (*putOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	asked, err := parseETag(in.IfMatch)
	if err != nil {
		return nil, err
	}
	effective, err := effectiveAt(in.EffectiveAt)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		view, err := a.control.Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		request := control.PutRequest{Ref: ref, Actor: callerOf(ctx).Principal, DryRun: in.DryRun, IfMatch: asked, EffectiveAt: effective}
		if asked == 0 {
			request.IfMatch = view.Head.Revision
		}
		if request.Definition, err = a.patched(view.Definition, in.Body); err != nil {
			return nil, err
		}
		if err := pausing(view, in.Body); err != nil {
			return nil, err
		}
		result, err := a.control.Put(ctx, request)
		if asked == 0 && job.CodeOf(err) == job.CodeRevisionConflict {
			if try < maxPatches {
				continue
			}
			err = &job.Error{Code: job.CodeUnavailable, Field: "job", Value: ref.Job, Message: "the job was changed again and again meanwhile", Fix: "send the patch again"}
		}
		if err != nil {
			return nil, err
		}
		return &putOutput{Status: http.StatusOK, ETag: etag(result.Head.Revision), Body: a.showPut(ctx, result, request.Definition, in.DryRun)}, nil
	}
}

// patched is a definition with a merge patch applied, read as strictly as a
// whole one.
func (a *api) patched(d job.Definition, patch []byte) (job.Definition, error) {
	var named map[string]json.RawMessage
	if err := json.Unmarshal(patch, &named); err != nil || named == nil {
		return job.Definition{}, &job.Error{Code: job.CodeInvalid, Field: "body", Message: "a patch is a JSON object", Fix: `send only what changes, such as {"timeout":"5m"}`}
	}
	if schedule, ok := named["schedule"]; ok {
		d.Schedule = remaining(d.Schedule, schedule)
	}
	whole, err := json.Marshal(d)
	if err != nil {
		return job.Definition{}, err
	}
	merged, err := jsonpatch.MergePatch(whole, patch)
	if err != nil {
		return job.Definition{}, &job.Error{Code: job.CodeInvalid, Field: "body", Message: "the patch cannot be applied", Fix: "send a merge patch as RFC 7396 has it"}
	}
	return a.readWhole(merged)
}

// readWhole reads what a patch made of a definition as a put of it would be read.
func (a *api) readWhole(merged []byte) (job.Definition, error) {
	var value any
	if err := json.Unmarshal(merged, &value); err != nil {
		return job.Definition{}, err
	}
	path, found := huma.NewPathBuffer([]byte{}, 0), &huma.ValidateResult{}
	path.Push("body")
	huma.Validate(a.huma.OpenAPI().Components.Schemas, a.whole, path, huma.ModeWriteToServer, value, found)
	var list faults
	for _, err := range found.Errors {
		fault := frameworkFault(err)
		list = append(list, &job.Error{Code: fault.Code, Field: fault.Field, Value: fault.Value, Bound: fault.Bound, Message: fault.Detail, Fix: fault.Fix})
	}
	if len(list) > 0 {
		return job.Definition{}, list
	}
	var read Definition
	if err := json.Unmarshal(merged, &read); err != nil {
		return job.Definition{}, misread(err)
	}
	return read.definition()
}

// pausing refuses a patch that names paused and would do nothing by it: the
// definition says so already, and a verb has done otherwise since.
func pausing(view *control.JobView, patch []byte) error {
	var named struct {
		Paused *bool `json:"paused"`
	}
	_ = json.Unmarshal(patch, &named) // it has been read before
	pause, state := named.Paused, view.Head.State
	switch {
	case pause == nil || *pause != view.Definition.Paused: // it changes the definition
		return nil
	case *pause && state == job.Paused, !*pause && state != job.Paused && state != job.Suspended:
		return nil
	}
	verb := "resume"
	if *named.Paused {
		verb = "pause"
	}
	return &job.Error{Code: job.CodeStateConflict, Field: "paused", Value: fmt.Sprint(*named.Paused), Bound: string(view.Head.State),
		Message: "the definition says so already, and the job is " + string(view.Head.State) + " all the same", Fix: verb + " it with: belfry jobs " + verb + " " + view.Head.Job}
}

// remaining is what stays of a schedule under a patch that gives it another
// kind: the zone and the bounds, not what belongs to the kind.
func remaining(s job.Schedule, patch json.RawMessage) job.Schedule {
	var named map[string]json.RawMessage
	if json.Unmarshal(patch, &named) != nil {
		return s
	}
	gives := func(kind string) bool { v, ok := named[kind]; return ok && string(v) != "null" }
	other := gives("cron") && s.Cron == "" || gives("every") && s.Every == 0 || gives("at") && s.At.IsZero()
	if !other {
		return s
	}
	return job.Schedule{Zone: s.Zone, Start: s.Start, End: s.End, Jitter: s.Jitter, Include: s.Include, Exclude: s.Exclude, OnExcluded: s.OnExcluded}
}

// misread words a number with a point where a whole one is expected, which the
// description of the API does not tell apart.
func misread(err error) error {
	if misfit := (*json.UnmarshalTypeError)(nil); errors.As(err, &misfit) {
		return &job.Error{Code: job.CodeInvalid, Field: misfit.Field, Value: job.Shorten(misfit.Value), Message: "the " + job.Shorten(misfit.Value) + " cannot be taken", Fix: "write a whole number without point and exponent"}
	}
	return &job.Error{Code: job.CodeInvalid, Field: "body", Message: "the patched definition does not read", Fix: "see the description of put-job"}
}
