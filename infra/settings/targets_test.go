package settings_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestListsOfTargetsAndSecretsAreChecked(t *testing.T) {
	for sentence, row := range map[string]struct{ file, field, bound string }{
		"a host name without a dot":            {"webhooks: {allow: [\"*.internal\", intranet]}", "webhooks.allow", "host names with a dot"},
		"everything for a target":              {"targets: [\"*\"]", "targets", "ARNs of functions"},
		"every queue of every account":         {"targets: [\"arn:aws:sqs:*:*:*\"]", "targets", "ARNs of functions"},
		"a bucket for a target":                {"targets: [\"arn:aws:s3:::reports\"]", "targets", "ARNs of functions"},
		"a target that is listed twice":        {"targets: [\"arn:aws:sqs:eu-west-1:111122223333:q\", \"arn:aws:sqs:eu-west-1:111122223333:q\"]", "targets", "once"},
		"tasks without a cluster":              {"targets: [\"arn:aws:ecs:eu-west-1:111122223333:task-definition/report\"]", "targets", "together with clusters"},
		"a role that no task gets":             {"targets: [\"arn:aws:iam::111122223333:role/task\"]", "targets", "together with task definitions"},
		"every secret":                         {"secrets: [\"*\"]", "secrets", "ssm:/path"},
		"the key that signs as a job's secret": {"secrets: [\"secretsmanager:arn:aws:secretsmanager:eu-west-1:111122223333:secret:*\"]\nwebhooks: {secret_arn: \"arn:aws:secretsmanager:eu-west-1:111122223333:secret:hooks\"}", "secrets", "not the secret in webhooks.secret_arn"},
		"lists that no environment holds":      {"secrets: [\"ssm:/" + strings.Repeat("a", 1000) + "\", \"ssm:/" + strings.Repeat("b", 1000) + "\", \"ssm:/" + strings.Repeat("c", 1000) + "\"]", "pools_file", "3000 bytes"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, _, err := read(row.file, nothing)
			var refusal *job.Error
			if !errors.As(err, &refusal) || refusal.Field != row.field || !strings.Contains(refusal.Bound, row.bound) {
				t.Errorf("refused with %v, want %s and %s", err, row.field, row.bound)
			}
		})
	}
}
