package object_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/object"
)

// script answers on the wire as S3 does, one answer after the other, the last again
// and again: for what no backend can be brought to say. The rest is tried on one
// (write_test.go).
type script struct {
	mu      sync.Mutex
	answers []answer
	asked   []string
	bodies  []string
}

type answer struct {
	status      int
	code        string
	etag, fence string
}

func (s *script) Do(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body := ""
	if r.Body != nil {
		read, _ := io.ReadAll(r.Body)
		body = string(read)
	}
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.Header.Get("If-Match")+r.Header.Get("If-None-Match")))
	s.bodies = append(s.bodies, body)
	a := s.answers[min(len(s.asked), len(s.answers))-1]
	text := ""
	if a.code != "" && r.Method != http.MethodHead {
		text = "<?xml version=\"1.0\"?><Error><Code>" + a.code + "</Code><Message>no</Message></Error>"
	}
	header := http.Header{}
	if a.etag != "" {
		header.Set("ETag", a.etag)
	}
	if a.fence != "" {
		header.Set("X-Amz-Meta-Last-Fencing-Token", a.fence)
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: r}, nil
}

func (s *script) client() *s3.Client {
	return s3.NewFromConfig(aws.Config{Region: "eu-central-1", HTTPClient: s, RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider("k", "s", "")})
}

var (
	none      = answer{status: 404}
	stored    = answer{status: 200, etag: `"new"`}
	preceded  = answer{status: 412, code: "PreconditionFailed"}
	underWay  = answer{status: 409, code: "ConditionalRequestConflict"}
	gone      = answer{status: 404, code: "NoSuchKey"}
	noBucket  = answer{status: 404, code: "NoSuchBucket"}
	forbidden = answer{status: 403, code: "AccessDenied"}
)

func there(etag, fence string) answer { return answer{status: 200, etag: etag, fence: fence} }

func report(body io.Reader) *s3.PutObjectInput {
	return &s3.PutObjectInput{Bucket: aws.String("reports"), Key: aws.String("daily"), Body: body}
}

func TestPutIsDecidedAnewOnWhatItMeets(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []answer
		asked   string
		says    string // part of the error; empty = none
	}{
		{"nothing is there", []answer{none, stored}, "HEAD, PUT *", ""},
		{"an object without a fence", []answer{there(`"a"`, ""), stored}, `HEAD, PUT "a"`, ""},
		{"an older attempt's", []answer{there(`"a"`, "1"), stored}, `HEAD, PUT "a"`, ""},
		{"its own", []answer{there(`"a"`, "2"), stored}, `HEAD, PUT "a"`, ""},
		{"a newer attempt's", []answer{there(`"a"`, "3")}, "HEAD", "written by 3"},
		{"another came first", []answer{none, preceded, there(`"b"`, "1"), stored}, `HEAD, PUT *, HEAD, PUT "b"`, ""},
		{"a newer attempt came first", []answer{none, preceded, there(`"b"`, "3")}, "HEAD, PUT *, HEAD", "written by 3"},
		{"another is under way", []answer{there(`"a"`, "1"), underWay, there(`"b"`, "3")}, `HEAD, PUT "a", HEAD`, "written by 3"},
		{"it was deleted in between", []answer{there(`"a"`, "1"), gone, none, stored}, `HEAD, PUT "a", HEAD, PUT *`, ""},
		{"others write at every try", []answer{none, preceded, none, preceded, none, preceded, none, preceded, none, preceded, none, preceded, none, preceded, none, preceded},
			strings.TrimSuffix(strings.Repeat("HEAD, PUT *, ", 8), ", "), "others wrote at each of 8 tries"},
		{"no bucket", []answer{none, noBucket}, "HEAD, PUT *", "NoSuchBucket"},
		{"it may not look", []answer{forbidden}, "HEAD", "look at s3://reports/daily"},
		{"it may not write", []answer{none, forbidden}, "HEAD, PUT *", "AccessDenied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{answers: c.answers}
			_, err := object.Put(t.Context(), s.client(), report(strings.NewReader("text")), "2")
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("answered %v, want %q", err, c.says)
			}
			if got := strings.Join(s.asked, ", "); got != c.asked {
				t.Errorf("asked %s, want %s", got, c.asked)
			}
			if fenced := strings.Contains(c.says, "written by"); errors.Is(err, idempotent.ErrFenced) != fenced {
				t.Errorf("%v is a lost fence: %v", err, !fenced)
			}
			if err != nil && !errors.Is(err, idempotent.ErrFenced) && worker.FailureOf(err).Class != lifecycle.Transient {
				t.Errorf("%v is %s", err, worker.FailureOf(err).Class)
			}
		})
	}
}

func TestEveryTrySendsTheWholeBody(t *testing.T) {
	s := &script{answers: []answer{none, preceded, none, stored}}
	body := strings.NewReader("head text")
	if _, err := body.Seek(5, io.SeekStart); err != nil { // what was read before is not the caller's to send
		t.Fatal(err)
	}
	if _, err := object.Put(t.Context(), s.client(), report(body), "2"); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{1, 3} {
		if !strings.Contains(s.bodies[i], "text") || strings.Contains(s.bodies[i], "head") {
			t.Errorf("try %d sent %q", i, s.bodies[i])
		}
	}
}

func TestWhatCannotBeFencedIsRefusedBeforeAnyCall(t *testing.T) {
	conditional := report(nil)
	conditional.IfNoneMatch = aws.String("*")
	for name, c := range map[string]struct {
		in    *s3.PutObjectInput
		f     idempotent.Fence
		field string
	}{
		"nobody's":                      {report(nil), "", "fence"},
		"a condition of the caller's":   {conditional, "1", "IfMatch"},
		"a body that is gone once read": {report(io.LimitReader(strings.NewReader("x"), 1)), "1", "Body"},
	} {
		s := &script{answers: []answer{none, stored}}
		_, err := object.Put(t.Context(), s.client(), c.in, c.f)
		_, published := object.Publish(t.Context(), s.client(), c.in, c.f)
		for tool, err := range map[string]error{"put": err, "publish": published} {
			var refused *job.Error
			if !errors.As(err, &refused) || refused.Field != c.field || refused.Fix == "" {
				t.Errorf("%s of %s: %v", tool, name, err)
			}
		}
		if len(s.asked) > 0 {
			t.Errorf("%s: asked %v", name, s.asked)
		}
	}
}

func TestTheCallersRequestIsLeftAsItIs(t *testing.T) {
	in := report(nil)
	in.Metadata = map[string]string{"by": "me"}
	if _, err := object.Put(t.Context(), (&script{answers: []answer{none, stored}}).client(), in, "2"); err != nil {
		t.Fatal(err)
	}
	if len(in.Metadata) != 1 || in.IfNoneMatch != nil {
		t.Errorf("it became %+v", in)
	}
}
