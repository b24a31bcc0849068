package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

// gate is an API behind a gateway that answers every call alike and remembers
// how the last one was signed.
func gate(t *testing.T, status int, body string, date time.Time) (string, *http.Header) {
	t.Helper()
	var last http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = r.Header.Clone()
		if !date.IsZero() {
			w.Header().Set("Date", date.UTC().Format(http.TimeFormat))
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL, &last
}

// ask runs `belfry health` in an environment of its own.
func ask(t *testing.T, url string, env ...string) outcome {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, "health", "--url", url)
	home := t.TempDir()
	command.Env = append([]string{"HOME=" + home, "AWS_EC2_METADATA_DISABLED=true"}, env...)
	for i, e := range command.Env {
		if content, named := strings.CutPrefix(e, "config="); named {
			path := filepath.Join(home, "aws")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			command.Env[i] = "AWS_CONFIG_FILE=" + path
		}
	}
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{out: out.String(), err: errs.String(), code: command.ProcessState.ExitCode()}
}

const healthy = `{"status":"ok","version":"1","tzdb":"2026a","time":"2026-07-12T12:00:00.000Z"}`

var keysInPlace = []string{"BELFRY_AUTH=iam", "AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=not-to-be-shown"}

func TestTheCommandSaysWhoCalls(t *testing.T) {
	t.Parallel()
	for sentence, row := range map[string]struct {
		env  []string
		want string // of the header Authorization
		more map[string]string
	}{
		"nobody":                               {nil, `^$`, nil},
		"a token is sent when there is one":    {[]string{"BELFRY_TOKEN=abc"}, `^Bearer abc$`, nil},
		"bearer sends the token":               {[]string{"BELFRY_AUTH=bearer", "BELFRY_TOKEN=abc"}, `^Bearer abc$`, nil},
		"iam signs, for the configured region": {append(keysInPlace, "AWS_REGION=eu-west-3"), `^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/eu-west-3/execute-api/aws4_request,`, nil},
		"iam leaves a token out": {append(keysInPlace, "AWS_REGION=eu-west-3", "BELFRY_TOKEN=abc", "AWS_SESSION_TOKEN=passing"), `^AWS4-HMAC-SHA256 .*x-amz-security-token`,
			map[string]string{"X-Amz-Security-Token": "passing"}},
		"iam takes a profile's keys and region": {[]string{"BELFRY_AUTH=iam", "AWS_PROFILE=ops",
			"config=[profile ops]\nregion=sa-east-1\naws_access_key_id=AKIDOPS\naws_secret_access_key=s\n"}, `Credential=AKIDOPS/\d{8}/sa-east-1/execute-api/`, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			url, last := gate(t, http.StatusOK, healthy, time.Time{})
			got := ask(t, url, row.env...)
			if signed := last.Get("Authorization"); got.code != exitOK || !regexp.MustCompile(row.want).MatchString(signed) {
				t.Errorf("exit code %d, signed %q: %s", got.code, signed, got.err)
			}
			for name, want := range row.more {
				if last.Get(name) != want {
					t.Errorf("%s is %q, want %q", name, last.Get(name), want)
				}
			}
		})
	}
}

func TestWhoeverIsNotLetInIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	region := append(keysInPlace, "AWS_REGION=eu-west-3")
	now := time.Now()
	for sentence, row := range map[string]struct {
		status int
		date   time.Time
		env    []string
		code   int
		want   []string
	}{
		"there are no credentials":             {0, now, []string{"BELFRY_AUTH=iam", "AWS_REGION=eu-west-3"}, exitNotLetIn, []string{"no AWS credentials", "aws sso login", "AWS_ACCESS_KEY_ID"}},
		"no region is known":                   {0, now, keysInPlace, exitNotLetIn, []string{"region", "set AWS_REGION"}},
		"the profile is not there":             {0, now, []string{"BELFRY_AUTH=iam", "AWS_PROFILE=gone"}, exitNotLetIn, []string{"gone", "AWS_PROFILE"}},
		"the clock is behind":                  {403, now.Add(20 * time.Minute), region, exitNotLetIn, []string{"clock is", "behind the service's", "set the clock"}},
		"the clock is ahead":                   {403, now.Add(-6 * time.Minute), region, exitNotLetIn, []string{"ahead of the service's"}},
		"the authorizer refuses":               {403, now.Add(-4 * time.Minute), region, exitNotLetIn, []string{"403 Forbidden", "execute-api:Invoke", "get-caller-identity"}},
		"the API wants signatures":             {403, now, nil, exitNotLetIn, []string{"BELFRY_AUTH=iam"}},
		"the API wants a token":                {401, now, nil, exitNotLetIn, []string{"set BELFRY_TOKEN"}},
		"the token is refused":                 {401, now, []string{"BELFRY_TOKEN=abc"}, exitNotLetIn, []string{"expired", "api.jwt_audience"}},
		"bearer without a token":               {0, now, []string{"BELFRY_AUTH=bearer"}, exitUsage, []string{"BELFRY_TOKEN is empty"}},
		"a way to sign in that does not exist": {0, now, []string{"BELFRY_AUTH=IAM"}, exitUsage, []string{`"IAM"`, "iam, bearer"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			url, last := gate(t, row.status, `{"message":"Forbidden"}`, row.date)
			got := ask(t, url, row.env...)
			if got.code != row.code || strings.Contains(got.err, "not-to-be-shown") {
				t.Errorf("exit code %d, want %d: %s", got.code, row.code, got.err)
			}
			if row.status == 0 && *last != nil {
				t.Errorf("a call was sent all the same: %v", *last)
			}
			for _, part := range row.want {
				if !strings.Contains(got.err, part) {
					t.Errorf("%q is not in %s", part, got.err)
				}
			}
		})
	}
}

func TestNothingIsSignedForAnAddressInClear(t *testing.T) {
	t.Parallel()
	got := ask(t, "http://belfry.example.com", append(keysInPlace, "AWS_REGION=eu-west-3", "AWS_SESSION_TOKEN=not-to-be-shown")...)
	if got.code != exitNotLetIn || !strings.Contains(got.err, "write the address with https://") || strings.Contains(got.err, "not-to-be-shown") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
}

func TestTheAPIsOwnAddressNamesTheRegion(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	t.Setenv("AWS_REGION", "us-east-1")
	a := &app{env: func(name string) string { return map[string]string{"BELFRY_AUTH": "iam"}[name] }, now: time.Now}
	signed := make(chan string, 1)
	o := client.Options{BaseURL: "https://a1b2.execute-api.ap-southeast-2.amazonaws.com", HTTP: &http.Client{Transport: answering(func(r *http.Request) { signed <- r.Header.Get("Authorization") })}}
	if err := a.signsIn(context.Background(), &o); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Health(t.Context())
	if got := <-signed; !strings.Contains(got, "/ap-southeast-2/execute-api/") {
		t.Errorf("signed %s, although the address is in ap-southeast-2", got)
	}
}

// answering looks at each request and answers nothing.
type answering func(*http.Request)

func (look answering) RoundTrip(r *http.Request) (*http.Response, error) {
	look(r)
	return nil, errors.New("nobody is there")
}
