package object_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/object"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

var buckets atomic.Int64

// bucket is a bucket of its own, of the local backend or of the peer.
func bucket(ctx context.Context) (*s3.Client, string, error) {
	client, err := service()
	if err != nil {
		return nil, "", err
	}
	name := fmt.Sprintf("idempotent-%d-%d", os.Getpid(), buckets.Add(1))
	_, err = client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name})
	return client, name, err
}

// bench is that bucket of one test.
type bench struct {
	*testing.T
	client *s3.Client
	name   string
}

func setup(t *testing.T) *bench {
	t.Helper()
	client, name, err := bucket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, client, name}
}

func (b *bench) report(text string) *s3.PutObjectInput {
	return &s3.PutObjectInput{Bucket: &b.name, Key: aws.String("daily"), Body: strings.NewReader(text)}
}

// put and publish are the two tools, told apart by what readers then find.
var tools = map[string]func(b *bench, client object.Client, f idempotent.Fence, text string) error{
	"put": func(b *bench, client object.Client, f idempotent.Fence, text string) error {
		_, err := object.Put(b.Context(), client, b.report(text), f)
		return err
	},
	"publish": func(b *bench, client object.Client, f idempotent.Fence, text string) error {
		_, err := object.Publish(b.Context(), client, b.report(text), f)
		return err
	},
}

// read is what a reader finds that knows how the tool writes.
func (b *bench) read(tool string) string {
	b.Helper()
	key := "daily"
	if tool == "publish" {
		r, err := object.Current(b.Context(), b.client, b.name, key)
		if err != nil {
			b.Fatal(err)
		}
		key = r.Object
	}
	out, err := b.client.GetObject(b.Context(), &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(out.Body)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func fence(token int64) idempotent.Fence {
	return idempotent.FenceOf(workertest.Attempt(workertest.Facts{Job: "report", ScheduledAt: time.Date(2026, 7, 13, 1, 30, 0, 0, time.UTC), FencingToken: token}))
}

// freezer stands still before its put to the report's key, the last of a tool's calls.
type freezer struct {
	*s3.Client
	frozen, thaw chan struct{}
	once         *sync.Once
}

func (f freezer) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	if aws.ToString(in.Key) == "daily" {
		f.once.Do(func() { close(f.frozen); <-f.thaw })
	}
	return f.Client.PutObject(ctx, in, options...)
}

// whileFrozen has attempt 1 write, stopped between its read and its write while
// meanwhile runs, and answers what it was told.
func (b *bench) whileFrozen(tool, text string, meanwhile func()) error {
	f := freezer{b.client, make(chan struct{}), make(chan struct{}), new(sync.Once)}
	answer := make(chan error, 1)
	go func() { answer <- tools[tool](b, f, fence(1), text) }()
	<-f.frozen
	meanwhile()
	close(f.thaw)
	return <-answer
}

func TestAFrozenWorkersWriteIsRefusedAndTheNewerOnesStands(t *testing.T) {
	for tool, write := range tools {
		for name, before := range map[string]string{"the first object": "", "over an older one": "older"} {
			t.Run(tool+", "+name, func(t *testing.T) {
				b := setup(t)
				if before != "" {
					if err := write(b, b.client, fence(1), before); err != nil {
						t.Fatal(err)
					}
				}
				err := b.whileFrozen(tool, "old", func() {
					for range 2 { // the newer attempt may write again
						if err := write(b, b.client, fence(2), "new"); err != nil {
							t.Error(err)
						}
					}
				})
				var stale *idempotent.StaleError
				if !errors.As(err, &stale) || stale.Fence != fence(1) || stale.Holder != fence(2) {
					t.Errorf("the old worker was told %v", err)
				}
				if got := b.read(tool); got != "new" {
					t.Errorf("there is %q", got)
				}
			})
		}
	}
}

// What the package says of equal bytes: Put does not see them, Publish does.
func TestANewerAttemptThatWritesTheSameBytes(t *testing.T) {
	for tool, refused := range map[string]bool{"put": false, "publish": true} {
		b := setup(t)
		write := tools[tool]
		if err := write(b, b.client, fence(1), "same"); err != nil {
			t.Fatal(err)
		}
		err := b.whileFrozen(tool, "old", func() {
			if err := write(b, b.client, fence(2), "same"); err != nil {
				t.Error(err)
			}
		})
		if errors.Is(err, idempotent.ErrFenced) != refused {
			t.Errorf("%s: the old worker was told %v", tool, err)
		}
		if want := map[bool]string{true: "same", false: "old"}[refused]; b.read(tool) != want {
			t.Errorf("%s: there is %q, want %q", tool, b.read(tool), want)
		}
	}
}

func TestOfTwentyAttemptsAtOnceTheNewestStands(t *testing.T) {
	for tool, write := range tools {
		b := setup(t)
		client := sideBySide(b.client)
		var all sync.WaitGroup
		for token := int64(1); token <= 20; token++ {
			all.Go(func() {
				for {
					err := write(b, client, fence(token), fmt.Sprint(token))
					if err == nil || errors.Is(err, idempotent.ErrFenced) {
						return
					}
					if !strings.Contains(err.Error(), "others wrote") { // then a worker would try again
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if got := b.read(tool); got != "20" {
			t.Errorf("%s: there is %q", tool, got)
		}
	}
}

// killed makes no call any more from the n-th put on; afterwards says whether that
// one was still carried out.
type killed struct {
	*s3.Client
	puts       *atomic.Int64
	at         int64
	afterwards bool
}

func (k killed) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	n := k.puts.Add(1)
	if n < k.at {
		return k.Client.PutObject(ctx, in, options...)
	}
	if n == k.at && k.afterwards {
		_, err := k.Client.PutObject(ctx, in, options...)
		return nil, errors.Join(errors.New("killed"), err)
	}
	return nil, errors.New("killed")
}

func TestACrashAtEveryStepLeavesTheOldOrTheNewAndTheNextAttemptGoesOn(t *testing.T) {
	for tool, puts := range map[string]int64{"put": 1, "publish": 2} {
		for at := int64(1); at <= puts; at++ {
			for _, afterwards := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, put %d, carried out %v", tool, at, afterwards), func(t *testing.T) {
					b := setup(t)
					write := tools[tool]
					if err := write(b, b.client, fence(1), "before"); err != nil {
						t.Fatal(err)
					}
					if err := write(b, killed{b.client, new(atomic.Int64), at, afterwards}, fence(2), "dead"); err == nil {
						t.Fatal("the crash was survived")
					}
					if got, want := b.read(tool), map[bool]string{true: "dead", false: "before"}[afterwards && at == puts]; got != want {
						t.Errorf("there is %q, want %q", got, want)
					}
					for range 2 {
						if err := write(b, b.client, fence(3), "next"); err != nil {
							t.Error(err)
						}
					}
					if got := b.read(tool); got != "next" {
						t.Errorf("there is %q", got)
					}
				})
			}
		}
	}
}

func TestWhatWasPublishedNeverChanges(t *testing.T) {
	b := setup(t)
	var all []object.Registration
	for _, c := range []struct {
		token int64
		text  string
	}{{1, "one"}, {1, "two"}, {1, "two"}, {2, "two"}} {
		r, err := object.Publish(t.Context(), b.client, b.report(c.text), fence(c.token))
		current, err2 := object.Current(t.Context(), b.client, b.name, "daily")
		if err := errors.Join(err, err2); err != nil || r != current || r.Fence != fence(c.token) || b.read("publish") != c.text {
			t.Errorf("attempt %d published %+v, there is %+v: %v", c.token, r, current, err)
		}
		all = append(all, r)
	}
	if all[0].Object == all[1].Object || all[1] != all[2] || all[2].Object == all[3].Object {
		t.Errorf("bytes share a name, or equal ones of an attempt have two: %+v", all)
	}
}

func TestCurrentSaysWhatIsNoRegistration(t *testing.T) {
	b := setup(t)
	if _, err := object.Current(t.Context(), b.client, b.name, "daily"); job.CodeOf(err) != job.CodeNotFound {
		t.Errorf("of nothing: %v", err)
	}
	for _, text := range []string{"", "{}", "plain", `{"object":"` + strings.Repeat("x", 4096) + `"}`} {
		if _, err := b.client.PutObject(t.Context(), b.report(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := object.Current(t.Context(), b.client, b.name, "daily"); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("of %.20q: %v", text, err)
		}
	}
}
