package s3_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// once is a body that cannot be read twice.
type once struct{ io.Reader }

// secure has the client believe in TLS, under which it sends a body in chunks
// and the checksum behind it.
func secure(o *sdk.Options) { o.BaseEndpoint = aws.String("https://local.invalid") }

// listener notes how bodies were sent.
type listener struct {
	next aws.HTTPClient
	sent []string
}

func (l *listener) Do(r *http.Request) (*http.Response, error) {
	l.sent = append(l.sent, r.Header.Get("X-Amz-Content-Sha256")+" "+r.Header.Get("X-Amz-Trailer"))
	return l.next.Do(r)
}

func TestChecksumsBehindTheBodyAreUnderstood(t *testing.T) {
	b := setup(t, localaws.Options{})
	content := strings.Repeat("0123456789", 30_000)
	for _, algorithm := range []types.ChecksumAlgorithm{"", "CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"} {
		heard := &listener{next: b.backend.Client()}
		_, err := b.PutObject(t.Context(), &sdk.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("streamed"), Body: once{strings.NewReader(content)},
			ContentLength: aws.Int64(int64(len(content))), ChecksumAlgorithm: algorithm, ContentEncoding: aws.String("gzip")},
			secure, func(o *sdk.Options) { o.HTTPClient = heard })
		if err != nil {
			t.Errorf("%s: %v", algorithm, err)
			continue
		}
		if !strings.HasPrefix(heard.sent[0], "STREAMING-UNSIGNED-PAYLOAD-TRAILER x-amz-checksum-") {
			t.Errorf("%s: the body was sent as %q: this shows nothing", algorithm, heard.sent)
		}
		out, err := b.GetObject(t.Context(), &sdk.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("streamed")})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(out.Body) // the client compares what it reads with the checksum
		if err != nil || string(got) != content || aws.ToString(out.ContentEncoding) != "gzip" {
			t.Errorf("%s: %d bytes came back as %q, %v", algorithm, len(got), aws.ToString(out.ContentEncoding), err)
		}
	}
}

const (
	streaming = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
	crcOfAbc  = "NSRBwg==" // CRC-32 of "abc"
)

func TestBodiesThatArriveDamagedAreRefused(t *testing.T) {
	const trailer = "x-amz-checksum-crc32:" + crcOfAbc + "\r\n\r\n"
	for name, row := range map[string]struct {
		body    string
		headers []string
		status  int
		code    string
	}{
		"in one chunk":                        {"3\r\nabc\r\n0\r\n" + trailer, nil, 200, ""},
		"in two chunks":                       {"1\r\na\r\n2\r\nbc\r\n0\r\n" + trailer, nil, 200, ""},
		"with signatures":                     {"3;chunk-signature=00\r\nabc\r\n0;chunk-signature=00\r\n" + trailer, nil, 200, ""},
		"without the last empty line":         {"3\r\nabc\r\n0\r\n" + strings.TrimSuffix(trailer, "\r\n"), nil, 200, ""},
		"another checksum":                    {"3\r\nabd\r\n0\r\n" + trailer, nil, 400, "BadDigest"},
		"nothing":                             {"", nil, 400, "IncompleteBody"},
		"cut in a chunk":                      {"3\r\nab", nil, 400, "IncompleteBody"},
		"cut behind a chunk":                  {"3\r\nabc", nil, 400, "IncompleteBody"},
		"cut before the last chunk":           {"3\r\nabc\r\n", nil, 400, "IncompleteBody"},
		"a chunk that is longer than it says": {"2\r\nabc\r\n0\r\n" + trailer, nil, 400, "IncompleteBody"},
		"a length that is none":               {"x\r\nabc\r\n0\r\n" + trailer, nil, 400, "IncompleteBody"},
		"a length below zero":                 {"-3\r\nabc\r\n0\r\n" + trailer, nil, 400, "IncompleteBody"},
		"fewer bytes than announced":          {"2\r\nab\r\n0\r\n" + trailer, nil, 400, "IncompleteBody"},
		"more bytes than announced":           {"4\r\nabcd\r\n0\r\n" + trailer, nil, 400, "IncompleteBody"},
		"lines without a carriage return":     {"3\nabc\n0\n" + trailer, nil, 400, "IncompleteBody"},
		"no trailer":                          {"3\r\nabc\r\n0\r\n\r\n", nil, 400, "MalformedTrailerError"},
		"a trailer that is none":              {"3\r\nabc\r\n0\r\nnone\r\n\r\n", nil, 400, "MalformedTrailerError"},
		"endless trailers":                    {"3\r\nabc\r\n0\r\n" + strings.Repeat("a:b\r\n", 100) + trailer, nil, 400, "MalformedTrailerError"},
		"no length announced":                 {"3\r\nabc\r\n0\r\n" + trailer, []string{"X-Amz-Decoded-Content-Length", ""}, 411, "MissingContentLength"},
		"a stream of an unknown kind":         {"3\r\nabc\r\n0\r\n" + trailer, []string{"X-Amz-Content-Sha256", "STREAMING-OTHER"}, 501, "NotImplemented"},
		"a checksum before and one behind":    {"3\r\nabc\r\n0\r\n" + trailer, []string{"X-Amz-Checksum-Sha1", "qZk+NkcGgWq6PiVxeFDCbJzQ2J0="}, 400, "InvalidRequest"},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, localaws.Options{})
			got := b.ask(http.MethodPut, "/jobs/x", row.body, append([]string{"X-Amz-Content-Sha256", streaming, "X-Amz-Trailer", "x-amz-checksum-crc32",
				"X-Amz-Decoded-Content-Length", "3"}, row.headers...)...)
			if row.code == "" && (got.Code != 200 || b.get("x") != "abc") || row.code != "" && (!isRefused(got, row.status, row.code) || b.get("x") != "") {
				t.Errorf("answered %d %s, want %d %s; it holds %q", got.Code, got.Body, row.status, row.code, b.get("x"))
			}
		})
	}
}

func TestHeadersAboutTheBodyAreCompared(t *testing.T) {
	for name, row := range map[string]struct {
		headers []string
		status  int
		code    string
	}{
		"the right checksum":                {[]string{"X-Amz-Checksum-Crc32", crcOfAbc}, 200, ""},
		"a checksum of the wrong length":    {[]string{"X-Amz-Checksum-Crc32", "AAAA"}, 400, "InvalidRequest"},
		"a checksum that is no base64":      {[]string{"X-Amz-Checksum-Crc32", "!"}, 400, "InvalidRequest"},
		"a checksum of an unknown kind":     {[]string{"X-Amz-Checksum-Xxhash64", "AAAA"}, 501, "NotImplemented"},
		"two checksums":                     {[]string{"X-Amz-Checksum-Crc32", crcOfAbc, "X-Amz-Checksum-Crc32c", "AAAAAA=="}, 400, "InvalidRequest"},
		"an algorithm without its checksum": {[]string{"X-Amz-Sdk-Checksum-Algorithm", "CRC32"}, 400, "InvalidRequest"},
		"an SHA-256 of other bytes":         {[]string{"X-Amz-Content-Sha256", strings.Repeat("0", 64)}, 400, "XAmzContentSHA256Mismatch"},
		"an SHA-256 that is none":           {[]string{"X-Amz-Content-Sha256", "none"}, 400, "InvalidArgument"},
		"an unsigned payload":               {[]string{"X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"}, 200, ""},
	} {
		b := setup(t, localaws.Options{})
		got := b.ask(http.MethodPut, "/jobs/x", "abc", row.headers...)
		if row.code == "" && (got.Code != 200 || b.get("x") != "abc") || row.code != "" && (!isRefused(got, row.status, row.code) || b.get("x") != "") {
			t.Errorf("%s: answered %d %s, want %d %s; it holds %q", name, got.Code, got.Body, row.status, row.code, b.get("x"))
		}
	}
}

// However a body is cut into chunks, the same bytes are stored.
func TestChunksDoNotShow(t *testing.T) {
	b := setup(t, localaws.Options{})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringN(1, -1, 200), 0, 8).Draw(t, "parts")
		var wrapped strings.Builder
		for _, part := range parts {
			fmt.Fprintf(&wrapped, "%x\r\n%s\r\n", len(part), part)
		}
		wrapped.WriteString("0\r\n\r\n")
		content := strings.Join(parts, "")
		got := b.ask(http.MethodPut, "/jobs/parts", wrapped.String(), "X-Amz-Content-Sha256", streaming, "X-Amz-Decoded-Content-Length", fmt.Sprint(len(content)))
		if got.Code != 200 || b.get("parts") != content {
			t.Fatalf("answered %d %s; it holds %q, want %q", got.Code, got.Body, b.get("parts"), content)
		}
	})
}

// Whatever arrives as chunks is stored or refused, and what is stored has the
// length that was announced.
func FuzzChunks(f *testing.F) {
	backend, err := localaws.New(localaws.Options{MaxObject: 1 << 10})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = backend.Close() })
	f.Add("3\r\nabc\r\n0\r\n\r\n", int64(3))
	f.Add("1;x=y\r\na\r\n2\r\nbc\r\n0\r\nx-amz-checksum-crc32:"+crcOfAbc+"\r\n\r\n", int64(3))
	f.Add("ffffffffffffffff\r\na", int64(1))
	f.Fuzz(func(t *testing.T, body string, length int64) {
		b := &bench{T: t, Client: sdk.NewFromConfig(backend.Config()), backend: backend}
		if made := b.ask(http.MethodPut, "/jobs", ""); made.Code != 200 {
			t.Fatal(made.Body)
		}
		got := b.ask(http.MethodPut, "/jobs/x", body, "X-Amz-Content-Sha256", streaming, "X-Amz-Decoded-Content-Length", fmt.Sprint(length))
		if got.Code == 200 && int64(len(b.get("x"))) != length || got.Code == 500 {
			t.Errorf("answered %d %s; %d bytes are stored", got.Code, got.Body, len(b.get("x")))
		}
	})
}
