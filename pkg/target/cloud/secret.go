package cloud

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// ReadSecret reads the whole text of a secret. Its errors say how they are to be
// retried, as those of handlers.
func (a *Account) ReadSecret(ctx context.Context, ref job.SecretRef) (string, error) {
	if !a.there {
		return "", worker.WithCode(CodeNotConfigured, worker.Permanent(fmt.Errorf("this worker has no AWS account to read a secret in: %s", a.without)))
	}
	if ref.Store == job.StoreSSM {
		out, err := a.ssm().GetParameter(ctx, &ssm.GetParameterInput{Name: &ref.Name, WithDecryption: aws.Bool(true)})
		if err != nil {
			return "", a.failure(ctx, "SSM", err)
		}
		if out.Parameter == nil {
			return "", nil
		}
		return aws.ToString(out.Parameter.Value), nil
	}
	out, err := a.secrets().GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &ref.Name}, func(o *secretsmanager.Options) { in(regionOf(ref.Name), &o.Region) })
	if err != nil {
		return "", a.failure(ctx, "SECRETSMANAGER", err)
	}
	return aws.ToString(out.SecretString), nil
}
