package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/httpapi"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/objects"
)

func TestPayloadPutPrintsTheReferenceOfWhatItStored(t *testing.T) {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	bucket := httptest.NewServer(backend)
	t.Cleanup(bucket.Close)
	config := backend.Config()
	config.BaseEndpoint = &bucket.URL
	client := s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := s3.NewFromConfig(backend.Config()).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("own")}); err != nil {
		t.Fatal(err)
	}
	planes := assembled(t)
	planes.Control.Payloads.Own, planes.Control.Uploads = "own", objects.NewUploads(client, time.Now)
	api := httptest.NewServer(httpapi.New(planes.Control, httpapi.Options{}))
	t.Cleanup(api.Close)

	const content = `{"rows":[1,2,3]}`
	file := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(content))
	ref := "s3://own/payloads/default/" + hex.EncodeToString(sum[:])
	for sentence, row := range map[string]struct {
		stdin string
		args  []string
		out   string
		code  int
	}{
		"a file":             {"", []string{"payload", "put", file}, ref + "\n", exitOK},
		"standard input":     {content, []string{"payload", "put", "-"}, ref + "\n", exitOK},
		"as JSON":            {"", []string{"payload", "put", file, "--json"}, `"payload_ref":"` + ref + `"`, exitOK},
		"nothing":            {"", []string{"payload", "put", "-"}, "", exitRefused},
		"a file that is not": {"", []string{"payload", "put", file + "x"}, "", exitFailed},
	} {
		got := belfry(t, api.URL, row.stdin, row.args...)
		if got.code != row.code || !strings.Contains(got.out, row.out) || strings.Contains(got.out, "X-Amz-Signature") {
			t.Errorf("%s: exit %d, printed %q %q", sentence, got.code, got.out, got.err)
		}
	}
	if got := belfry(t, service(t), content, "payload", "put", "-"); got.code != exitRefused || !strings.Contains(got.err, "BELFRY_BUCKET") {
		t.Errorf("without a bucket: exit %d, %q", got.code, got.err)
	}
}
