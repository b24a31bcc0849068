package function

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
)

func TestTheKeyIsFetchedFromTheSecretThatIsNamed(t *testing.T) {
	const arn, key = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:hooks-AbCdEf", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	for sentence, row := range map[string]struct {
		arn, answer string
		status      int
		key, fault  string
	}{
		"no secret is named":            {"", "", 0, "", ""},
		"the secret holds a key":        {arn, `{"SecretString":"` + key + `"}`, 200, key, ""},
		"the secret holds another text": {arn, `{"SecretString":"hunter2-hunter2"}`, 200, "", "15 characters, not shown"},
		"the secret holds bytes alone":  {arn, `{"SecretBinary":"aHVudGVyMg=="}`, 200, "", arn},
		"the role may not read it":      {arn, `{"__type":"AccessDeniedException","message":"no"}`, 400, "", "AccessDeniedException"},
	} {
		t.Run(sentence, func(t *testing.T) {
			asked := ""
			service := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked += r.Header.Get("X-Amz-Target") + " " + string(body)
				answer.WriteHeader(row.status)
				_, _ = io.WriteString(answer, row.answer)
			}))
			defer service.Close()
			i := &functions.Installation{Environment: assemble.Environment{WebhookSecretARN: row.arn}, AWS: aws.Config{Region: "eu-west-1", BaseEndpoint: &service.URL,
				Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}}
			err := fetchKey(t.Context(), i)
			if (err != nil) != (row.fault != "") || err != nil && (!strings.Contains(err.Error(), row.fault) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("failed with %v, want %q", err, row.fault)
			}
			if i.Environment.WebhookSecret != row.key {
				t.Errorf("the key is %q", i.Environment.WebhookSecret)
			}
			want := ""
			if row.arn != "" {
				want = `secretsmanager.GetSecretValue {"SecretId":"` + arn + `"}`
			}
			if asked != want {
				t.Errorf("asked for %q, want %q", asked, want)
			}
		})
	}
}
