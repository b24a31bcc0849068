//go:build stack

package localstack

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// ownPool is that of the emulator's pools which only workers with handlers of
// their own serve.
const ownPool = "own-handlers"

// The copy in which a worker is killed.
const (
	rows    = 10
	staysAt = 6
	// rowBytes makes the checkpoint outgrow the table before the worker is killed.
	rowBytes = 1024
)

// ownHandlers kills a worker in the midst of a copy. Until that worker's lease is
// over the two that come after it have the time to run children.
func (w town) ownHandlers(ctx context.Context) {
	w.Helper()
	program := filepath.Join(w.TempDir(), "handlers")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./testdata/handlers").CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	copies := w.run(ctx, w.handled(ctx, "copies", "copy", map[string]any{"receiver": w.receiver.url, "rows": rows, "stays_at": staysAt, "row_bytes": rowBytes}))
	first := w.start(program, ownPool)
	w.until(ctx, "the first worker comes to the row in which it stays", func() bool { return len(w.receiver.of(copies.Job)[copies.ID]) > staysAt })
	first.well(w.T)
	first.kill(w.T)
	killed := time.Now()
	for range 2 {
		w.start(program, ownPool)
	}
	w.Run("a copy goes on behind the last row that a killed worker had saved", func(t *testing.T) {
		t.Parallel()
		w := w.on(t)
		w.wentOn(w.ended(ctx, copies.ID))
		t.Logf("%s after its worker was killed", time.Since(killed).Round(time.Second))
		w.keeps(ctx, copies.Job)
	})
	w.Run("what 300 children found is gathered once", func(t *testing.T) {
		t.Parallel()
		w.on(t).spreads(ctx)
	})
}

// handled makes a job of one of the handlers.
func (w town) handled(ctx context.Context, name, handler string, payload any) string {
	w.Helper()
	encoded, err := json.Marshal(payload)
	if err != nil {
		w.Fatal(err)
	}
	return w.put(ctx, job.Definition{Job: name, Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Paused: true, Pool: ownPool, Target: job.Target{Handler: &job.HandlerTarget{Name: handler}},
		Payload: encoded, Timeout: job.Duration(5 * time.Minute)})
}

// wentOn holds the rows that were told of against what was saved: the one in which
// the worker was killed comes twice, all others once, each with all rows before it.
func (w town) wentOn(e client.Execution) {
	w.Helper()
	got := w.receiver.of(e.Job)[e.ID]
	if e.Attempt != 2 || e.Lost != 1 || len(got) != rows+1 {
		w.Fatalf("%d rows in %d attempts, %d lost; want %d in 2, 1 of them lost: %+v", len(got), e.Attempt, e.Lost, rows+1, got)
	}
	for i, d := range got {
		row, attempt := i, 1
		if i > staysAt {
			row, attempt = i-1, 2
		}
		if want := fmt.Sprintf(`{"kept":%d,"row":%d}`, row, row); string(d.body) != want || d.attempt != attempt || d.key != got[0].key {
			w.Errorf("call %d is %s in attempt %d under %q; want %s in attempt %d under %q", i, d.body, d.attempt, d.key, want, attempt, got[0].key)
		}
	}
	before, after := got[0].token, got[rows].token
	if after <= before || got[staysAt].token != before || got[staysAt+1].token != after || e.FencingToken == nil || *e.FencingToken != after {
		w.Errorf("taken over with token %d after %d; want a higher one, under which it was settled", after, before)
	}
}

// keeps expects the copy's last checkpoint in the bucket, and none of those that it
// has replaced.
func (w town) keeps(ctx context.Context, name string) {
	w.Helper()
	bucket := containerOf(w.T, ownPool).of("BELFRY_BUCKET")
	keys := credentials.NewStaticCredentialsProvider(told(w.T, "AWS_ACCESS_KEY_ID"), told(w.T, "AWS_SECRET_ACCESS_KEY"), "")
	stored := s3.NewFromConfig(aws.Config{Region: told(w.T, "AWS_REGION"), BaseEndpoint: aws.String(told(w.T, "BELFRY_STACK_ENDPOINT")), Credentials: keys}, func(o *s3.Options) { o.UsePathStyle = true })
	out, err := stored.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("checkpoints/" + job.DefaultTenant + "/" + name + "/")})
	if err != nil {
		w.Fatal(err)
	}
	if len(out.Contents) != 1 || *out.Contents[0].Size < rows*rowBytes {
		w.Errorf("the bucket %s holds %+v of %s; want its last checkpoint", bucket, out.Contents, name)
	}
}
