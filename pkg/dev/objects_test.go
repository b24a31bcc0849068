package dev

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// objects is a client of the process's AWS endpoint, as another program has it.
func keptObjects(endpoint string) *s3.Client {
	return s3.NewFromConfig(aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")},
		func(o *s3.Options) { o.UsePathStyle = true })
}

func TestTheBucketIsThereFromTheStartAndKeepsItsObjects(t *testing.T) {
	folder := t.TempDir()
	t.Run("first", func(t *testing.T) {
		client := keptObjects(start(t, func(o *Options) { o.Data = folder }).AWS)
		if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(Bucket), Key: aws.String("checkpoints/7"), Body: strings.NewReader("half")}); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("again", func(t *testing.T) {
		client := keptObjects(start(t, func(o *Options) { o.Data = folder }).AWS)
		out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(Bucket), Key: aws.String("checkpoints/7")})
		if err != nil {
			t.Fatal(err)
		}
		if content, err := io.ReadAll(out.Body); err != nil || string(content) != "half" {
			t.Errorf("it holds %q, %v", content, err)
		}
	})
}

// Reading is harmless to the store but not to whoever's data it is.
func TestNoWebPageReadsObjects(t *testing.T) {
	urls := start(t)
	client := keptObjects(urls.AWS)
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(Bucket), Key: aws.String("secret.js"), Body: strings.NewReader("stolen()")}); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		header, value string
		status        int
	}{
		"a program":              {"Accept", "*/*", 200},
		"someone at the browser": {"Sec-Fetch-Site", "none", 200},
		"a page of this origin":  {"Sec-Fetch-Site", "same-origin", 200},
		"a page elsewhere":       {"Sec-Fetch-Site", "cross-site", 403},
		"a neighbour's page":     {"Sec-Fetch-Site", "same-site", 403},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, urls.AWS+"/"+Bucket+"/secret.js", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(row.header, row.value)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != row.status || (row.status == 403) != strings.Contains(string(body), "<Code>AccessDenied</Code>") {
			t.Errorf("%s: answered %s %s, %v; want %d", name, answer.Status, body, err, row.status)
		}
	}
}
