package s3_test

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

func TestWhatIsNotImplementedIsRefusedByName(t *testing.T) {
	for name, request := range map[string][]string{
		"operation ListBuckets":                                       {"GET", "/"},
		"operation DeleteBucket":                                      {"DELETE", "/jobs"},
		"operation DeleteObjects":                                     {"POST", "/jobs?delete"},
		"operation ListObjects":                                       {"GET", "/jobs"},
		"operation PutObjectAcl":                                      {"PUT", "/jobs/x?acl"},
		"operation CopyObject":                                        {"PUT", "/jobs/x", "X-Amz-Copy-Source", "/jobs/y"},
		"operation CreateMultipartUpload":                             {"POST", "/jobs/x?uploads"},
		"operation PutBucketVersioning":                               {"PUT", "/jobs?versioning"},
		"the header X-Amz-Acl of PutObject":                           {"PUT", "/jobs/x", "X-Amz-Acl", "private"},
		"the header X-Amz-Tagging of PutObject":                       {"PUT", "/jobs/x", "X-Amz-Tagging", "a=b"},
		"the header X-Amz-Object-Lock-Mode of PutObject":              {"PUT", "/jobs/x", "X-Amz-Object-Lock-Mode", "GOVERNANCE"},
		"the header X-Amz-Bucket-Object-Lock-Enabled of CreateBucket": {"PUT", "/new", "X-Amz-Bucket-Object-Lock-Enabled", "true"},
		"the header X-Amz-Meta-A of GetObject":                        {"GET", "/jobs/x", "X-Amz-Meta-A", "b"},
		"the header If-Modified-Since of GetObject":                   {"GET", "/jobs/x", "If-Modified-Since", "Thu, 01 Jan 2026 00:00:00 GMT"},
		"the header Range of DeleteObject":                            {"DELETE", "/jobs/x", "Range", "bytes=0-1"},
		"the header If-None-Match of DeleteObject":                    {"DELETE", "/jobs/x", "If-None-Match", "*"},
		"the query parameter versionId of GetObject":                  {"GET", "/jobs/x?versionId=1"},
		"delimiter and start-after together":                          {"GET", "/jobs?list-type=2&delimiter=/&start-after=a"},
		"the query parameter fetch-owner of ListObjectsV2":            {"GET", "/jobs?list-type=2&fetch-owner=true"},
		"the query parameter X-Amz-Expires of GetObject":              {"GET", "/jobs/x?X-Amz-Expires=60"},
		"X-Amz-Server-Side-Encryption: aws:kms":                       {"PUT", "/jobs/x", "X-Amz-Server-Side-Encryption", "aws:kms"},
		"If-Match: * on PutObject":                                    {"PUT", "/jobs/x", "If-Match", "*"},
		"If-Match and If-None-Match together":                         {"PUT", "/jobs/x", "If-Match", "a", "If-None-Match", "*"},
		"conditions with several entity tags":                         {"GET", "/jobs/x", "If-Match", `"a", "b"`},
		"several ranges in one request":                               {"GET", "/jobs/there", "Range", "bytes=0-0,2-2"},
		"keys with control characters":                                {"PUT", "/jobs/a%01b"},
	} {
		b := setup(t, localaws.Options{})
		b.put("there", "content")
		if got := b.ask(request[0], request[1], "", request[2:]...); !isRefused(got, 501, "NotImplemented") || !strings.Contains(got.Body.String(), name) {
			t.Errorf("%q: answered %d %s", request, got.Code, got.Body)
		}
	}
}

func TestRefusalsAreWordedLikeTheService(t *testing.T) {
	for name, row := range map[string]struct {
		request []string
		status  int
		want    string
	}{
		"no such key":                  {[]string{"GET", "/jobs/a%3Cb"}, 404, "<Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>a&lt;b</Key>"},
		"no such bucket":               {[]string{"GET", "/none/a"}, 404, "<Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message><BucketName>none</BucketName>"},
		"a condition":                  {[]string{"PUT", "/jobs/there", "If-None-Match", "*"}, 412, "<Code>PreconditionFailed</Code><Message>At least one of the pre-conditions you specified did not hold</Message><Condition>If-None-Match</Condition>"},
		"a range":                      {[]string{"GET", "/jobs/there", "Range", "bytes=9-"}, 416, "<Code>InvalidRange</Code><Message>The requested range is not satisfiable</Message><RangeRequested>bytes=9-</RangeRequested><ActualObjectSize>7</ActualObjectSize>"},
		"another account":              {[]string{"GET", "/jobs/there", "X-Amz-Expected-Bucket-Owner", "1"}, 403, "<Code>AccessDenied</Code>"},
		"no UTF-8":                     {[]string{"GET", "/jobs/%FF"}, 400, "<Code>InvalidURI</Code>"},
		"no such list":                 {[]string{"GET", "/jobs?list-type=3"}, 400, "<Code>InvalidArgument</Code>"},
		"no such length":               {[]string{"GET", "/jobs?list-type=2&max-keys=-1"}, 400, "<Code>InvalidArgument</Code>"},
		"no such writing":              {[]string{"GET", "/jobs?list-type=2&encoding-type=x"}, 400, "<Code>InvalidArgument</Code>"},
		"an upload after its time":     {[]string{"PUT", "/jobs/x?X-Amz-Date=20260712T120000Z&X-Amz-Expires=900&X-Amz-Signature=a&X-Amz-SignedHeaders=host"}, 403, "<Code>AccessDenied</Code><Message>Request has expired</Message>"},
		"an upload without its header": {[]string{"PUT", "/jobs/x?X-Amz-Date=20991231T120000Z&X-Amz-Expires=900&X-Amz-Signature=a&X-Amz-SignedHeaders=host%3Bx-amz-checksum-sha256"}, 403, "<Code>SignatureDoesNotMatch</Code>"},
		"an upload for ever":           {[]string{"PUT", "/jobs/x?X-Amz-Date=20991231T120000Z&X-Amz-Expires=999999&X-Amz-Signature=a&X-Amz-SignedHeaders=host"}, 400, "<Code>AuthorizationQueryParametersError</Code>"},
		"no method":                    {[]string{"PATCH", "/jobs/x"}, 405, "<Code>MethodNotAllowed</Code>"},
	} {
		b := setup(t, localaws.Options{})
		b.put("there", "content")
		got := b.ask(row.request[0], row.request[1], "", row.request[2:]...)
		text := got.Body.String()
		if got.Code != row.status || !strings.HasPrefix(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>"+row.want) ||
			!strings.HasSuffix(text, "<RequestId>0000000000000003</RequestId><HostId>local-0000000000000003</HostId></Error>") {
			t.Errorf("%s: answered %d %s", name, got.Code, text)
		}
	}
}

func TestAnObjectThatIsTooLargeIsRefused(t *testing.T) {
	for name, change := range map[string]func(*sdk.Options){"as it is": func(*sdk.Options) {}, "in chunks": secure} {
		b := setup(t, localaws.Options{MaxObject: 10})
		put := func(content string) error {
			_, err := b.PutObject(t.Context(), &sdk.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("x"), Body: strings.NewReader(content)}, change)
			return err
		}
		if err := put("0123456789"); err != nil {
			t.Errorf("%s: the largest object: %v", name, err)
		}
		if err := put("0123456789a"); codeOf(err) != "EntityTooLarge" || !strings.Contains(err.Error(), "10 bytes") {
			t.Errorf("%s: one byte more: %v", name, err)
		}
		if got := b.get("x"); got != "0123456789" {
			t.Errorf("%s: it holds %q", name, got)
		}
	}
}

// A HEAD has no body to say why, nor has "not modified".
func TestAnswersWithoutABody(t *testing.T) {
	b := setup(t, localaws.Options{})
	tag := b.put("there", "content")
	for name, row := range map[string]struct {
		request []string
		status  int
		length  string
	}{
		"a head":                        {[]string{"HEAD", "/jobs/there"}, 200, "7"},
		"a head of nothing":             {[]string{"HEAD", "/jobs/none"}, 404, "0"},
		"a head of an unknown kind":     {[]string{"HEAD", "/jobs/there?versionId=1"}, 501, "0"},
		"a get of what has not changed": {[]string{"GET", "/jobs/there", "If-None-Match", tag}, 304, ""},
		"a delete":                      {[]string{"DELETE", "/jobs/none"}, 204, ""},
	} {
		got := b.ask(row.request[0], row.request[1], "", row.request[2:]...)
		if got.Code != row.status || got.Body.Len() != 0 || got.Header().Get("Content-Length") != row.length {
			t.Errorf("%s: answered %d %q, length %q", name, got.Code, got.Body, got.Header().Get("Content-Length"))
		}
	}
}

func TestOverASocketItIsTheSame(t *testing.T) {
	b := setup(t, localaws.Options{})
	server := httptest.NewServer(b.backend)
	defer server.Close()
	b.Client = sdk.NewFromConfig(b.backend.Config(), func(o *sdk.Options) {
		o.BaseEndpoint, o.HTTPClient, o.UsePathStyle = &server.URL, server.Client(), true
	})
	content := strings.Repeat("0123456789", 500_000) // large enough that the client waits for 100 Continue
	tag := b.put("a b/c", content)
	if b.get("a b/c") != content {
		t.Error("other bytes came back")
	}
	_, err := b.GetObject(t.Context(), &sdk.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("a b/c"), IfNoneMatch: &tag})
	if codeOf(err) != "NotModified" {
		t.Errorf("not modified: %v", err)
	}
	head, err := b.HeadObject(t.Context(), &sdk.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("a b/c")})
	if err != nil || aws.ToInt64(head.ContentLength) != int64(len(content)) {
		t.Errorf("head: %+v, %v", head, err)
	}
	b.sendCut(server.URL)
}

// sendCut announces ten bytes, sends three and hangs up; the object must not
// come to be.
func (b *bench) sendCut(base string) {
	b.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	_, _ = connection.Write([]byte("PUT /jobs/cut HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"))
	_ = connection.(*net.TCPConn).CloseWrite()
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _, _ = answer.Body.Close(), connection.Close() }()
	if answer.StatusCode != http.StatusBadRequest || b.get("cut") != "" {
		b.Errorf("a body that was cut off is answered %s; it holds %q", answer.Status, b.get("cut"))
	}
}

func TestBucketsElsewhereThanInVirginia(t *testing.T) {
	backend, err := localaws.New(localaws.Options{Region: "eu-central-1"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = backend.Close() }()
	client := sdk.NewFromConfig(backend.Config())
	create := func(where *types.CreateBucketConfiguration) string {
		_, err := client.CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: aws.String("away"), CreateBucketConfiguration: where})
		return codeOf(err)
	}
	in := func(region types.BucketLocationConstraint) *types.CreateBucketConfiguration {
		return &types.CreateBucketConfiguration{LocationConstraint: region}
	}
	for _, row := range []struct {
		name  string
		where *types.CreateBucketConfiguration
		code  string
	}{
		{"nowhere", nil, "IllegalLocationConstraintException"},
		{"elsewhere", in("eu-west-1"), "IllegalLocationConstraintException"},
		{"in Virginia", in("us-east-1"), "InvalidLocationConstraint"},
		{"with tags", &types.CreateBucketConfiguration{LocationConstraint: "eu-central-1", Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}}, "NotImplemented"},
		{"here", in("eu-central-1"), ""},
		{"here again", in("eu-central-1"), "BucketAlreadyOwnedByYou"},
	} {
		if got := create(row.where); got != row.code {
			t.Errorf("%s: answered %q, want %q", row.name, got, row.code)
		}
	}
}
