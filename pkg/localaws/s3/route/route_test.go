package route_test

import (
	"errors"
	"net/http"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"github.com/belfry-scheduler/belfry/pkg/localaws/s3/route"
)

var errSeen = errors.New("seen")

// look keeps the request and answers nothing.
type look struct{ request *http.Request }

func (l *look) Do(r *http.Request) (*http.Response, error) {
	l.request = r
	return nil, errSeen
}

// elsewhere are operations that no bucket's endpoint serves, or that only a
// directory bucket's or an access point's does.
var elsewhere = map[string]bool{"WriteGetObjectResponse": true, "ListDirectoryBuckets": true}

// fill sets each text of an input to x, so that whatever belongs into the path
// or the query is there.
func fill(in reflect.Value) {
	for i := range in.NumField() {
		if field := in.Field(i); field.CanSet() && field.Type() == reflect.TypeFor[*string]() {
			field.Set(reflect.ValueOf(aws.String("xxx")))
		}
	}
}

// Every operation of the SDK is found by its own name, whichever way the bucket
// is named.
func TestEachOperationOfTheClientIsNamed(t *testing.T) {
	for style, pathStyle := range map[string]bool{"in the path": true, "in the host": false} {
		client := &look{}
		methods := reflect.ValueOf(s3.New(s3.Options{Region: "us-east-1", UsePathStyle: pathStyle, HTTPClient: client, RetryMaxAttempts: 1,
			BaseEndpoint: aws.String("http://local.invalid"), Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
			APIOptions: []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
				_, _ = stack.Initialize.Remove("OperationInputValidation") // not there when nothing is required
				return nil
			}}}))
		named := 0
		for i := range methods.NumMethod() {
			method, name := methods.Method(i), methods.Type().Method(i).Name
			if method.Type().NumIn() != 3 || elsewhere[name] {
				continue
			}
			in := reflect.New(method.Type().In(1).Elem())
			fill(in.Elem())
			client.request = nil
			results := method.Call([]reflect.Value{reflect.ValueOf(t.Context()), in})
			if client.request == nil {
				t.Errorf("%s was not sent: %v", name, results[1])
				continue
			}
			if got := route.Of(client.request); got.Operation != name {
				t.Errorf("bucket %s: %s %s is taken for %+v, want %s", style, client.request.Method, client.request.URL, got, name)
			}
			named++
		}
		if named < 100 {
			t.Errorf("only %d operations were looked at", named)
		}
	}
}

func TestBucketAndKeyAreReadAsSent(t *testing.T) {
	for name, row := range map[string]struct {
		method, url string
		want        route.Call
	}{
		"an object by path":                    {"GET", "http://127.0.0.1:8421/jobs/a/b", route.Call{Operation: "GetObject", Bucket: "jobs", Key: "a/b"}},
		"an object by host":                    {"GET", "http://jobs.local.invalid/a/b", route.Call{Operation: "GetObject", Bucket: "jobs", Key: "a/b"}},
		"an object by host and port":           {"GET", "http://jobs.local.invalid:80/a", route.Call{Operation: "GetObject", Bucket: "jobs", Key: "a"}},
		"a bucket with a dot":                  {"HEAD", "http://a.b.local.invalid/", route.Call{Operation: "HeadBucket", Bucket: "a.b"}},
		"the backend's own host has no bucket": {"HEAD", "http://local.invalid/jobs", route.Call{Operation: "HeadBucket", Bucket: "jobs"}},
		"any other host has no bucket":         {"HEAD", "http://jobs.localhost/jobs/", route.Call{Operation: "HeadBucket", Bucket: "jobs"}},
		"a key that is escaped":                {"PUT", "http://x/jobs/a%20b%2Bc%2Fd+%C3%A9", route.Call{Operation: "PutObject", Bucket: "jobs", Key: "a b+c/d+é"}},
		"a key with empty and dotted parts":    {"PUT", "http://x/jobs//a/../b/", route.Call{Operation: "PutObject", Bucket: "jobs", Key: "/a/../b/"}},
		"a method that S3 does not know":       {"PATCH", "http://x/jobs/a", route.Call{Bucket: "jobs", Key: "a"}},
		"a form":                               {"POST", "http://x/jobs", route.Call{Bucket: "jobs"}},
		"nothing":                              {"GET", "http://x/", route.Call{Operation: "ListBuckets"}},
	} {

		r, err := http.NewRequestWithContext(t.Context(), row.method, row.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := route.Of(r); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}
