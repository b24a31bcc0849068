package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

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
}

// mergePatch is the media type of RFC 7396; application/json will do as well.
const mergePatch = "application/merge-patch+json"

// maxPatches bounds how often a patch is applied anew because the job changed
// under it.
const maxPatches = 4

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
		if request.Definition, err = patched(view.Definition, in.Body); err != nil {
			return nil, err
		}
		result, err := a.control.Put(ctx, request)
		if asked == 0 && try < maxPatches && job.CodeOf(err) == job.CodeRevisionConflict {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &putOutput{Status: http.StatusOK, ETag: etag(result.Head.Revision), Body: a.showPut(ctx, result, request.Definition.Schedule, in.DryRun)}, nil
	}
}

// patched is a definition with a merge patch applied, read as strictly as a
// whole one.
func patched(d job.Definition, patch []byte) (job.Definition, error) {
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
	var read Definition
	decoder := json.NewDecoder(bytes.NewReader(merged))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return job.Definition{}, misread(err)
	}
	return read.definition()
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

// misread words what a patch made of a definition that does not read.
func misread(err error) error {
	if misfit := (*json.UnmarshalTypeError)(nil); errors.As(err, &misfit) {
		return &job.Error{Code: job.CodeInvalid, Field: misfit.Field, Value: misfit.Value, Message: "a " + misfit.Value + " cannot stand at " + misfit.Field, Fix: "see the description of put-job for what can"}
	}
	if _, field, unknown := strings.Cut(err.Error(), "unknown field "); unknown {
		field = strings.Trim(field, `"`)
		return &job.Error{Code: job.CodeUnknownField, Field: job.Shorten(field), Message: "there is no field \"" + job.Shorten(field) + "\"", Fix: "see the description of put-job for those that there are"}
	}
	return &job.Error{Code: job.CodeInvalid, Field: "body", Message: "the patched definition does not read", Fix: "see the description of put-job"}
}
