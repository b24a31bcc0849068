//go:build conformance

package target

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/target/cloud"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// peer is the endpoint that BELFRY_CONFORMANCE_ENDPOINT names, in which each
// test has names of its own.
type peer struct {
	*testing.T
	config aws.Config
	suffix string
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	endpoint := os.Getenv("BELFRY_CONFORMANCE_ENDPOINT")
	if endpoint == "" {
		t.Fatal("BELFRY_CONFORMANCE_ENDPOINT must name the peer; `make conformance` starts one")
	}
	return &peer{T: t, suffix: fmt.Sprintf("-%x", time.Now().UnixNano()),
		config: aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}}
}

// hook is a webhook that may refer to all secrets of the peer, and takes its
// attempts' headers.
func (p *peer) hook(answer http.HandlerFunc) func(headers map[string]string) error {
	p.Helper()
	receiver := httptest.NewServer(answer)
	p.Cleanup(receiver.Close)
	hook, err := newWebhook(Options{WebhookAllow: Loopback(), Clock: clock.System{}, Secrets: []string{"secretsmanager:arn:aws:secretsmanager:us-east-1:123456789012:secret:hooks*", "ssm:/*"},
		ReadSecret: cloud.New(cloud.Options{AWS: &p.config}).ReadSecret})
	if err != nil {
		p.Fatal(err)
	}
	return func(headers map[string]string) error {
		return hook.handle(p.Context(), workertest.Attempt(workertest.Facts{Target: job.Target{Webhook: &job.Webhook{URL: receiver.URL, Headers: headers}}}))
	}
}

func TestSecretsOfAPeerArriveInHeadersAndTheNextOneIsTakenUp(t *testing.T) {
	p := newPeer(t)
	secrets, parameters, path := secretsmanager.NewFromConfig(p.config), ssm.NewFromConfig(p.config), "/billing/token"+p.suffix
	made, err := secrets.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("hooks" + p.suffix), SecretString: aws.String(`{"token":"first-secret"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parameters.PutParameter(t.Context(), &ssm.PutParameterInput{Name: &path, Value: aws.String("of-the-parameter"), Type: ssmtypes.ParameterTypeSecureString}); err != nil {
		t.Fatal(err)
	}
	good := "first-secret"
	var arrived []http.Header
	call := p.hook(func(w http.ResponseWriter, r *http.Request) {
		arrived = append(arrived, r.Header)
		if r.Header.Get("Authorization") != "Bearer "+good {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "no such token: ", r.Header.Get("Authorization"))
		}
	})
	headers := map[string]string{"Authorization": "Bearer secretsmanager:" + *made.ARN + "#token", "X-Key": "ssm:" + path, "X-Plain": "plain"}
	if err := call(headers); err != nil {
		t.Fatal(err)
	}
	if h := arrived[0]; h.Get("Authorization") != "Bearer first-secret" || h.Get("X-Key") != "of-the-parameter" || h.Get("X-Plain") != "plain" {
		t.Errorf("arrived %v", h)
	}
	good = "second-secret"
	if _, err := secrets.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: made.ARN, SecretString: aws.String(`{"token":"second-secret"}`)}); err != nil {
		t.Fatal(err)
	}
	if f := worker.FailureOf(call(headers)); f == nil || f.Class != "transient" || f.Code != "HTTP_403" || strings.Contains(f.Text, "first-secret") || !strings.Contains(f.Text, "Bearer "+hidden) {
		t.Errorf("with the old secret: %+v", f)
	}
	if err := call(headers); err != nil {
		t.Errorf("the next attempt: %v", err)
	}
}

func TestSecretsThatAPeerDoesNotHaveFailForGood(t *testing.T) {
	p := newPeer(t)
	call := p.hook(func(http.ResponseWriter, *http.Request) { t.Error("it was called") })
	for ref, code := range map[string]string{"ssm:/none" + p.suffix: "SSM_PARAMETER_NOT_FOUND", "secretsmanager:arn:aws:secretsmanager:us-east-1:123456789012:secret:hooks-none": "SECRETSMANAGER_RESOURCE_NOT_FOUND"} {
		if f := worker.FailureOf(call(map[string]string{"X-Key": ref})); f == nil || f.Class != "permanent" || f.Code != code {
			t.Errorf("%s: %+v; want %s", ref, f, code)
		}
	}
}
