//go:build stack

package localstack

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// vault is the deployed archive's bucket.
type vault struct {
	*testing.T
	client *s3.Client
	bucket string
}

func deployedVault(t *testing.T) vault {
	t.Helper()
	endpoint, region := told(t, "BELFRY_STACK_ENDPOINT"), told(t, "AWS_REGION")
	keys := credentials.NewStaticCredentialsProvider(told(t, "AWS_ACCESS_KEY_ID"), told(t, "AWS_SECRET_ACCESS_KEY"), "")
	return vault{T: t, bucket: "belfry-archive-000000000000-" + region,
		client: s3.NewFromConfig(aws.Config{Region: region, BaseEndpoint: &endpoint, Credentials: keys}, func(o *s3.Options) { o.UsePathStyle = true })}
}

// names are those of all objects of a kind of the tenant, with how many versions
// there are of them.
func (v vault) names(ctx context.Context, kind string) (names []string, versions int) {
	v.Helper()
	pages := s3.NewListObjectVersionsPaginator(v.client, &s3.ListObjectVersionsInput{Bucket: &v.bucket, Prefix: aws.String("kind=" + kind + "/tenant=default/")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			v.Fatal(err)
		}
		for _, one := range page.Versions {
			names = append(names, *one.Key)
		}
	}
	versions = len(names)
	slices.Sort(names)
	return slices.Compact(names), versions
}

// archivedRow is a row of any kind, as far as it is looked at here.
type archivedRow struct {
	ID        string `json:"id"`
	Job       string `json:"job"`
	Execution string `json:"execution"`
	Place     int    `json:"place"`
	At        string `json:"at"`
	To        string `json:"to_status"`
	Attempt   int    `json:"attempt"`
	Reason    string `json:"reason"`
	ErrorCode string `json:"error_code"`
	Verb      string `json:"verb"`
}

// rows are all rows of a kind, each id once.
func (v vault) rows(ctx context.Context, kind string) map[string]archivedRow {
	v.Helper()
	names, versions := v.names(ctx, kind)
	if versions != len(names) {
		v.Errorf("%d objects of kind %s have %d versions: some were replaced", len(names), kind, versions)
	}
	all := map[string]archivedRow{}
	for _, name := range names {
		out, err := v.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &v.bucket, Key: &name})
		if err != nil {
			v.Fatal(err)
		}
		unpacked, err := gzip.NewReader(out.Body)
		if err != nil {
			v.Fatalf("%s: %v", name, err)
		}
		for lines := json.NewDecoder(unpacked); ; {
			var row archivedRow
			if err := lines.Decode(&row); err == io.EOF {
				break
			} else if err != nil {
				v.Fatalf("%s: %v", name, err)
			}
			all[row.ID] = row
		}
		_ = out.Body.Close()
	}
	return all
}

// TestWhatRanIsArchived runs last: whatever the other tests have made run must
// be in the bucket as the API tells it.
func TestWhatRanIsArchived(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	w := town{T: t, api: deployedAPI(t), receiver: newReceiver(t), suffix: time.Now().UTC().Format("-20060102t150405")}
	name := w.put(ctx, job.Definition{Job: "kept", Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Target: job.Target{Log: &job.LogTarget{Message: "here"}}, Paused: true})
	manual, err := w.api.RunJob(ctx, name, "")
	if err != nil {
		t.Fatal(err)
	}
	w.until(ctx, manual.ID+" succeeds", func() bool {
		e, err := w.api.Execution(ctx, manual.ID)
		return err == nil && e.Status == job.Succeeded
	})
	v := deployedVault(t)
	var told, kept []string
	w.until(ctx, "what the API tells is in the bucket", func() bool {
		told, kept = w.timelines(ctx), linesOf(v.rows(ctx, "transition"))
		return !slices.ContainsFunc(told, func(line string) bool { return !slices.Contains(kept, line) })
	})
	t.Logf("%d transitions of executions that ended are told by the API, %d are archived", len(told), len(kept))
	if len(told) < 3 {
		t.Errorf("the API tells %d transitions, want those of %s at least: %q", len(told), manual.ID, told)
	}
	verbs := 0
	for _, row := range v.rows(ctx, "audit") {
		if row.Job == name && row.Verb == "create" {
			verbs++
		}
	}
	if verbs != 1 {
		t.Errorf("the creation of %s is archived %d times, want once", name, verbs)
	}
	if unread := v.rows(ctx, "unread"); len(unread) > 0 {
		t.Errorf("%d records did not read: %v", len(unread), unread)
	}
}

// timelines are the transitions of all executions that have ended, a line each.
func (w town) timelines(ctx context.Context) []string {
	w.Helper()
	var lines []string
	ended := []job.Status{job.Succeeded, job.Failed, job.Dead, job.Canceled, job.Missed}
	for _, e := range w.executions(ctx, client.ExecutionQuery{Statuses: ended, Limit: 200}) {
		timeline, err := w.api.Timeline(ctx, e.ID)
		if err != nil {
			w.Fatal(err)
		}
		for _, entry := range timeline.Items {
			if entry.Status != "READY" { // a view that nothing wrote
				lines = append(lines, line(e.ID, entry.Status, entry.At.Time, entry.Attempt, string(entry.Reason), string(entry.ErrorCode)))
			}
		}
	}
	return lines
}

func linesOf(rows map[string]archivedRow) []string {
	var lines []string
	for _, r := range rows {
		at, _ := time.Parse(time.RFC3339, r.At)
		lines = append(lines, line(r.Execution, r.To, at, r.Attempt, r.Reason, r.ErrorCode))
	}
	return lines
}

// line tells a transition. The revision is left out: an execution that was
// carried over an edit is shown under the newer one.
func line(id, status string, at time.Time, attempt int, reason, code string) string {
	id = id[:max(0, strings.LastIndex(id, "~"))]
	return fmt.Sprintf("%s %s %s attempt %d %s %s", id, status, at.UTC().Format("2006-01-02T15:04:05.000"), attempt, cmp.Or(reason, "-"), cmp.Or(code, "-"))
}
