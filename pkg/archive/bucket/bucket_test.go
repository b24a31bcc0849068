package bucket_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/belfry-scheduler/belfry/pkg/archive/bucket"
)

// service answers as S3 does, one answer after the other, the last again and
// again.
type service struct {
	mu      sync.Mutex
	answers []answer
	asked   []*http.Request
	bodies  []string
}

type answer struct {
	status int
	code   string
	lost   bool // the connection breaks instead
}

func (s *service) Do(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	s.asked, s.bodies = append(s.asked, r), append(s.bodies, string(body))
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	a := s.answers[min(len(s.asked), len(s.answers))-1]
	if a.lost {
		return nil, errors.New("connection reset by peer")
	}
	text := ""
	if a.code != "" {
		text = "<?xml version=\"1.0\"?><Error><Code>" + a.code + "</Code><Message>no</Message></Error>"
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: r}, nil
}

func (s *service) bucket(endpoint *string) *bucket.Bucket {
	return bucket.New(aws.Config{Region: "eu-central-1", BaseEndpoint: endpoint, HTTPClient: s,
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("k", "s", ""))}, "belfry-archive")
}

var (
	stored    = answer{status: 200}
	slowDown  = answer{status: 503, code: "SlowDown"}
	there     = answer{status: 412, code: "PreconditionFailed"}
	forbidden = answer{status: 403, code: "AccessDenied"}
	conflict  = answer{status: 409, code: "ConditionalRequestConflict"}
)

func TestPut(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []answer
		asked   int
		refused string
	}{
		{"stores", []answer{stored}, 1, ""},
		{"is content with one that is there", []answer{there}, 1, ""},
		{"tries again what is throttled", []answer{slowDown, slowDown, stored}, 3, ""},
		{"tries again what has failed", []answer{{status: 500, code: "InternalError"}, stored}, 2, ""},
		{"recognises its own write whose answer was lost", []answer{{lost: true}, there}, 2, ""},
		{"gives up on what stays throttled", []answer{slowDown}, 5, "SlowDown"},
		{"does not insist on what it may not", []answer{forbidden}, 1, "AccessDenied"},
		{"leaves a write that is under way to the next delivery", []answer{conflict}, 1, "ConditionalRequestConflict"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: c.answers}
				begin := time.Now()
				err := s.bucket(nil).Put(t.Context(), "kind=audit/x.json.gz", []byte("packed"))
				if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
					t.Errorf("answered %v, want %q", err, c.refused)
				}
				if len(s.asked) != c.asked || time.Since(begin) > 20*time.Second {
					t.Errorf("asked %d times in %v, want %d in at most 20 s", len(s.asked), time.Since(begin), c.asked)
				}
			})
		})
	}
}

func TestARequestNamesTheBucketAndMayReplaceNothing(t *testing.T) {
	digest := sha256.Sum256([]byte("packed"))
	for host, endpoint := range map[string]*string{"belfry-archive.s3.eu-central-1.amazonaws.com/kind%3Daudit/x.json.gz": nil,
		"localhost:4566/belfry-archive/kind%3Daudit/x.json.gz": aws.String("http://localhost:4566")} {
		s := &service{answers: []answer{stored}}
		if err := s.bucket(endpoint).Put(t.Context(), "kind=audit/x.json.gz", []byte("packed")); err != nil {
			t.Fatal(err)
		}
		r := s.asked[0]
		if got := r.URL.Host + r.URL.EscapedPath(); got != host || r.Method != http.MethodPut {
			t.Errorf("%s %s, want PUT %s", r.Method, got, host)
		}
		if got := r.Header.Get("If-None-Match"); got != "*" {
			t.Errorf("the put is on condition %q", got)
		}
		if got := r.Header.Get("X-Amz-Sdk-Checksum-Algorithm"); got != "SHA256" {
			t.Errorf("the digest is by %q, and a bucket that locks wants to be told", got)
		}
		if got := r.Header.Get("X-Amz-Checksum-Sha256"); got != base64.StdEncoding.EncodeToString(digest[:]) || s.bodies[0] != "packed" {
			t.Errorf("digest %q of %q", got, s.bodies[0])
		}
	}
}

func TestPutEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := (&service{answers: []answer{stored}}).bucket(nil).Put(ctx, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("answered %v", err)
	}
}

// deaf takes requests and never answers.
type deaf struct{}

func (deaf) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestABucketThatDoesNotAnswerIsLeftAfterTwentySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bucket.New(aws.Config{Region: "eu-central-1", HTTPClient: deaf{}, Credentials: credentials.NewStaticCredentialsProvider("k", "s", "")}, "belfry-archive")
		begun := time.Now()
		err := b.Put(t.Context(), "x", []byte("y"))
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took != 20*time.Second {
			t.Errorf("after %s it ended with %v", took, err)
		}
		// Whoever calls may have less time.
		short, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		begun = time.Now()
		if err := b.Put(short, "x", []byte("y")); err == nil || time.Since(begun) != 3*time.Second {
			t.Errorf("after %s it ended with %v", time.Since(begun), err)
		}
	})
}
