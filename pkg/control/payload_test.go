package control_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func refersTo(ref string) job.Definition {
	return job.Definition{Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Target: job.Target{Handler: &job.HandlerTarget{Name: "work"}}, PayloadRef: ref}
}

func TestReferencesToPayloadsAreHeldToTheRules(t *testing.T) {
	atDesk(t, func(d *desk) {
		t := d.T
		d.Payloads = job.PayloadRules{Allowed: map[string][]string{"default": {"s3://acme-in/"}}}
		put := func(definition job.Definition) error {
			_, err := d.Put(t.Context(), control.PutRequest{Ref: d.ref, Definition: definition, Actor: "test"})
			return err
		}
		run := func(ref string) (*job.Execution, error) {
			return d.RunNow(t.Context(), control.RunRequest{Ref: d.ref, Actor: "test", PayloadRef: ref})
		}
		if err := put(refersTo("s3://other/a")); job.CodeOf(err) != job.CodeInvalid || !strings.Contains(err.Error(), "s3://acme-in/") {
			t.Errorf("a job that refers elsewhere: %v, want a refusal that says where it may", err)
		}
		d.must(put(refersTo("s3://acme-in/a")))
		if _, err := run("s3://other/a"); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("a run that refers elsewhere: %v", err)
		}
		if _, err := run("acme-in/a"); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("a run that refers to nothing: %v", err)
		}
		e, err := run("s3://acme-in/b")
		d.must(err)
		stored, err := d.belfry.Store.Execution(t.Context(), d.ref, e.Key)
		d.must(err)
		if stored.PayloadRef != "s3://acme-in/b" {
			t.Errorf("the run refers to %q", stored.PayloadRef)
		}
		toQueue := refersTo("")
		toQueue.Target = job.Target{SQS: &job.SQSTarget{QueueURL: "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"}}
		d.must(put(toQueue))
		if _, err := run("s3://acme-in/b"); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("a run whose target cannot take it: %v", err)
		}
	})
}

// signer signs whatever it is asked to.
type signer struct{}

func (signer) Upload(_ context.Context, ref job.PayloadRef, digest string, size int64) (job.Upload, error) {
	return job.Upload{Method: "PUT", URL: ref.String() + "?" + digest}, nil
}

func TestAPayloadIsGivenAPlaceNamedByItsContent(t *testing.T) {
	const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	atDesk(t, func(d *desk) {
		t := d.T
		ask := control.PayloadRequest{Tenant: "acme", Digest: digest, Size: job.MaxPayloadObject}
		if _, _, err := d.StorePayload(t.Context(), ask); job.CodeOf(err) != job.CodeNotSupported {
			t.Errorf("without a bucket: %v", err)
		}
		d.Payloads.Own, d.Uploads = "own", signer{}
		ref, upload, err := d.StorePayload(t.Context(), ask)
		if want := "s3://own/payloads/acme/" + digest; err != nil || ref.String() != want || upload.URL != want+"?"+digest {
			t.Errorf("%v, %+v, %v", ref, upload, err)
		}
		for sentence, wrong := range map[string]control.PayloadRequest{"one byte too many": {"acme", digest, job.MaxPayloadObject + 1}, "none": {"acme", digest, 0},
			"a digest that is none": {"acme", "../beta/x", 1}, "in capitals": {"acme", strings.ToUpper(digest), 1}} {
			if _, _, err := d.StorePayload(t.Context(), wrong); job.CodeOf(err).Class() != job.ClassRefused {
				t.Errorf("%s: %v", sentence, err)
			}
		}
	})
}

// A run that was given a payload of its own is repeated with that, not with the job's;
// what it found there is not pinned on its replay.
func TestAReplayRefersToWhatTheRunReferredTo(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.Payloads = job.PayloadRules{Allowed: map[string][]string{"default": {"s3://acme-in/"}}}
		d.put(refersTo("s3://acme-in/daily"))
		e, err := d.RunNow(d.Context(), control.RunRequest{Ref: d.ref, Actor: "test", PayloadRef: "s3://acme-in/own"})
		d.must(err)
		first := d.replay(d.bring(e, job.Dead, "X"), "")
		second := d.replay(d.bring(first, job.Dead, "X"), "")
		for _, replay := range []*job.Execution{first, second} {
			if replay.PayloadRef != "s3://acme-in/own" || replay.PayloadSum != "" {
				d.Errorf("the replay refers to %q, pinned to %q", replay.PayloadRef, replay.PayloadSum)
			}
		}
	})
}
