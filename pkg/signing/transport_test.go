package signing_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/signing"
)

const (
	keyID   = "AKIDEXAMPLE"
	secret  = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	session = "a/session+token=="
	region  = "eu-central-1"
)

var noon = time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)

type keys aws.Credentials

func (k keys) Retrieve(context.Context) (aws.Credentials, error) { return aws.Credentials(k), nil }

func sum(data []byte) string { s := sha256.Sum256(data); return hex.EncodeToString(s[:]) }

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// escaped is a path or a part of a query as the scheme wants it: everything but
// letters, digits and -._~ (and / in a path) becomes a percent sign and two digits.
func escaped(text string, keep string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~"+keep, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func canonicalQuery(u *url.URL) string {
	var pairs []string
	for name, values := range u.Query() {
		for _, v := range values {
			pairs = append(pairs, escaped(name, "")+"="+escaped(v, ""))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// verify computes the signature of what arrived, by AWS's description of the
// scheme and with nothing of the SDK, and tells what is wrong.
func verify(r *http.Request, body []byte) error {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	parts := map[string]string{}
	for part := range strings.SplitSeq(rest, ", ") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	at := r.Header.Get("X-Amz-Date")
	if scheme != "AWS4-HMAC-SHA256" || len(at) != len("20060102T150405Z") {
		return fmt.Errorf("it is signed by %q at %q", scheme, at)
	}
	scope := at[:8] + "/" + region + "/execute-api/aws4_request"
	if want := keyID + "/" + scope; parts["Credential"] != want {
		return fmt.Errorf("signed for %q, want %q", parts["Credential"], want)
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(parts["SignedHeaders"], ";") {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	request := strings.Join([]string{r.Method, escaped(r.URL.EscapedPath(), "/"), canonicalQuery(r.URL), headers.String(), parts["SignedHeaders"], sum(body)}, "\n")
	text := "AWS4-HMAC-SHA256\n" + at + "\n" + scope + "\n" + sum([]byte(request))
	key := []byte("AWS4" + secret)
	for _, part := range []string{at[:8], region, "execute-api", "aws4_request"} {
		key = mac(key, part)
	}
	if want := hex.EncodeToString(mac(key, text)); parts["Signature"] != want {
		return fmt.Errorf("the signature is %s, want %s for\n%s", parts["Signature"], want, request)
	}
	return nil
}

// arrived is what the server saw of one request.
type arrived struct {
	header  http.Header
	body    string
	refusal error
}

func serve(t *testing.T) (string, <-chan arrived) {
	t.Helper()
	got := make(chan arrived, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- arrived{header: r.Header, body: string(body), refusal: verify(r, body)}
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func transport(k aws.CredentialsProvider) *signing.Transport {
	return &signing.Transport{Service: signing.APIGateway, Region: region, Credentials: k, Now: func() time.Time { return noon }}
}

func TestWhatArrivesCarriesTheSignatureOfExactlyThat(t *testing.T) {
	lasting := keys{AccessKeyID: keyID, SecretAccessKey: secret}
	passing := keys{AccessKeyID: keyID, SecretAccessKey: secret, SessionToken: session}
	for sentence, row := range map[string]struct {
		method, path, body string
		keys               keys
	}{
		"a read":                                    {http.MethodGet, "/v1/jobs", "", lasting},
		"a body is hashed":                          {http.MethodPut, "/v1/jobs/nightly", `{"job":"nightly"}`, lasting},
		"a query is signed in its order":            {http.MethodGet, "/v1/jobs/a/executions?upcoming=true&status=FAILED&status=DEAD&limit=7&cursor=x%3D%2B%2F+y", "", lasting},
		"names that need escaping":                  {http.MethodGet, "/v1/executions/nightly~20260712T013000Z~v3%2F..%20%25", "", lasting},
		"credentials that pass carry their session": {http.MethodPost, "/v1/jobs/nightly/run", "{}", passing},
		"a delete":                                  {http.MethodDelete, "/v1/jobs/nightly", "", passing},
	} {
		t.Run(sentence, func(t *testing.T) {
			base, got := serve(t)
			request, err := http.NewRequestWithContext(t.Context(), row.method, base+row.path, strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer somebody")
			request.Header.Set("If-Match", `"3"`)
			response, err := (&http.Client{Transport: transport(row.keys)}).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			saw := <-got
			if saw.refusal != nil || saw.body != row.body {
				t.Errorf("%v\nwith body %q, want %q", saw.refusal, saw.body, row.body)
			}
			if signed := saw.header.Get("Authorization"); saw.header.Get("X-Amz-Security-Token") != row.keys.SessionToken || !strings.Contains(signed, "if-match") ||
				strings.Contains(signed, "x-amz-security-token") != (row.keys.SessionToken != "") {
				t.Errorf("signed %s, with the session token %q", signed, saw.header.Get("X-Amz-Security-Token"))
			}
			if request.Header.Get("Authorization") != "Bearer somebody" || request.Header.Get("X-Amz-Date") != "" {
				t.Errorf("the caller's request was changed: %v", request.Header)
			}
		})
	}
}

// failing gives no credentials.
type failing struct{ err error }

func (f failing) Retrieve(context.Context) (aws.Credentials, error) { return aws.Credentials{}, f.err }

func TestARequestThatCannotBeSignedIsNotSent(t *testing.T) {
	for sentence, provider := range map[string]aws.CredentialsProvider{
		"nothing gives credentials": nil,
		"none are found":            failing{errors.New("no EC2 IMDS role found")},
		"they are empty":            keys{},
	} {
		t.Run(sentence, func(t *testing.T) {
			base, got := serve(t)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := (&http.Client{Transport: transport(provider)}).Do(request)
			if err == nil {
				response.Body.Close()
			}
			var unsent *signing.UnsentError
			if !errors.As(err, &unsent) || !unsent.NotSent() || !strings.Contains(unsent.Fix, "AWS_ACCESS_KEY_ID") || len(got) != 0 {
				t.Errorf("%v; %d requests arrived", err, len(got))
			}
		})
	}
}

func TestTheRegionIsReadOutOfTheAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://a1b2c3.execute-api.eu-central-1.amazonaws.com":               "eu-central-1",
		"https://a1b2c3.execute-api.us-gov-west-1.amazonaws.com/stage":        "us-gov-west-1",
		"https://a1b2c3.execute-api.cn-north-1.amazonaws.com.cn":              "cn-north-1",
		"https://vpce-0a-1b.execute-api.us-east-1.vpce.amazonaws.com":         "us-east-1",
		"https://xray.ap-southeast-2.amazonaws.com/v1/traces":                 "ap-southeast-2",
		"https://belfry.example.com":                                          "",
		"http://a1b2c3.execute-api.localhost:4566":                            "",
		"https://a1b2c3.execute-api.eu-central-1.amazonaws.com.evil.example":  "",
		"https://execute-api.example.com/execute-api.eu-west-1.amazonaws.com": "",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := signing.RegionOf(u); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
