package s3_test

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// bench is a backend with an SDK client and one bucket.
type bench struct {
	*testing.T
	*sdk.Client
	backend *localaws.Backend
}

const bucket = "jobs"

func setup(t *testing.T, options localaws.Options) *bench {
	t.Helper()
	backend, err := localaws.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	b := &bench{T: t, Client: sdk.NewFromConfig(backend.Config()), backend: backend}
	if _, err := b.CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil {
		t.Fatal(err)
	}
	return b
}

// onEngines runs a test in memory and on disk.
func onEngines(t *testing.T, test func(*testing.T, localaws.Options)) {
	t.Run("memory", func(t *testing.T) { test(t, localaws.Options{}) })
	t.Run("bolt", func(t *testing.T) { test(t, localaws.Options{Dir: t.TempDir()}) })
}

func (b *bench) put(key, content string) string {
	b.Helper()
	out, err := b.PutObject(b.Context(), &sdk.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader(content)})
	if err != nil {
		b.Fatal(err)
	}
	return aws.ToString(out.ETag)
}

// get returns an object's bytes, "" when it is not there.
func (b *bench) get(key string) string {
	b.Helper()
	out, err := b.GetObject(b.Context(), &sdk.GetObjectInput{Bucket: aws.String(bucket), Key: &key})
	if codeOf(err) == "NoSuchKey" {
		return ""
	}
	if err != nil {
		b.Fatal(err)
	}
	content, err := io.ReadAll(out.Body)
	if err != nil {
		b.Fatal(err)
	}
	return string(content)
}

// ask sends one request by hand; headers are pairs.
func (b *bench) ask(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	b.backend.ServeHTTP(recorder, r)
	return recorder
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func isRefused(recorder *httptest.ResponseRecorder, status int, code string) bool {
	return recorder.Code == status && strings.Contains(recorder.Body.String(), "<Code>"+code+"</Code>") &&
		recorder.Header().Get("Content-Type") == "application/xml"
}
