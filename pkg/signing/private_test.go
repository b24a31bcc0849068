package signing_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/signing"
)

// under counts what is handed on.
type under struct{ sent int }

func (u *under) RoundTrip(r *http.Request) (*http.Response, error) {
	u.sent++
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// body tells whether it was closed.
type body struct {
	io.Reader
	closed int
}

func (b *body) Close() error { b.closed++; return nil }

// send signs one POST with the body and hands it on.
func send(t *testing.T, ctx context.Context, address string, k aws.CredentialsProvider, b *body) (sent int, err error) { //nolint:revive // t stands first in tests
	t.Helper()
	to := &under{}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, b)
	if err != nil {
		t.Fatal(err)
	}
	signer := transport(k)
	signer.Under = to
	response, err := signer.RoundTrip(request)
	if err == nil {
		_ = response.Body.Close()
	}
	return to.sent, err
}

var passing = keys{AccessKeyID: keyID, SecretAccessKey: secret, SessionToken: session}

func TestNothingSignedTravelsInClear(t *testing.T) {
	for address, allowed := range map[string]bool{
		"https://belfry.example.com/v1":                true,
		"http://127.0.0.1:4566/":                       true,
		"http://127.8.9.1/":                            true,
		"http://[::1]:4566/":                           true,
		"http://localhost:4566/":                       true,
		"http://a1b2.execute-api.LocalHost.:4566/":     true,
		"http://belfry.example.com/v1":                 false,
		"http://localhost.example.com/":                false,
		"http://notlocalhost/":                         false,
		"http://10.0.0.7/":                             false,
		"http://0.0.0.0:4566/":                         false,
		"http://a.execute-api.eu-west-1.amazonaws.com": false,
	} {
		t.Run(address, func(t *testing.T) {
			b := &body{Reader: strings.NewReader("{}")}
			sent, err := send(t, t.Context(), address, passing, b)
			var unsent *signing.UnsentError
			switch {
			case allowed && (err != nil || sent != 1):
				t.Errorf("sent %d times, %v", sent, err)
			case !allowed && (!errors.As(err, &unsent) || sent != 0 || !strings.Contains(unsent.Fix, "https://") || strings.Contains(err.Error(), session)):
				t.Errorf("sent %d times, refused with %v", sent, err)
			}
			if b.closed != 1 {
				t.Errorf("the body was closed %d times", b.closed)
			}
		})
	}
}

// breaking is a body that ends too early.
type breaking struct{}

func (breaking) Read([]byte) (int, error) { return 0, errors.New("the file shrank") }

func TestTheBodyIsClosedWhateverBecomesOfTheRequest(t *testing.T) {
	for sentence, row := range map[string]struct {
		keys keys
		from io.Reader
		sent int
		told string
	}{
		"it is sent":             {passing, strings.NewReader("{}"), 1, ""},
		"nobody signs it":        {keys{}, strings.NewReader("{}"), 0, "no AWS credentials"},
		"it cannot be read":      {passing, breaking{}, 0, "the file shrank"},
		"there is nothing in it": {passing, strings.NewReader(""), 1, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			b := &body{Reader: row.from}
			sent, err := send(t, t.Context(), "https://belfry.example.com", row.keys, b)
			var unsent *signing.UnsentError
			if refused := errors.As(err, &unsent); b.closed != 1 || sent != row.sent || refused != (row.told != "") || refused && !strings.Contains(err.Error(), row.told) {
				t.Errorf("closed %d times, sent %d times, %v", b.closed, sent, err)
			}
		})
	}
}

// slow gives credentials once whoever asks has gone.
type slow struct{ cancel func() }

func (s slow) Retrieve(ctx context.Context) (aws.Credentials, error) {
	s.cancel()
	<-ctx.Done()
	return aws.Credentials{}, errors.New("request canceled while asking for a token")
}

func TestWhoeverHasGoneIsNotToldToLogIn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := &body{Reader: strings.NewReader("{}")}
	sent, err := send(t, ctx, "https://belfry.example.com", slow{cancel}, b)
	var unsent *signing.UnsentError
	if !errors.Is(err, context.Canceled) || errors.As(err, &unsent) || sent != 0 || b.closed != 1 {
		t.Errorf("sent %d times, closed %d times, ended with %v", sent, b.closed, err)
	}
}
