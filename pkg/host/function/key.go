package function

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/belfry-scheduler/belfry/functions"
)

// fetchTime is a part of the ten seconds that the platform gives a start.
const fetchTime = 8 * time.Second

// fetchKey takes the key that signs webhook calls out of the secret that the
// environment names, if it names one. It does so once, as the function starts: a key
// in the environment could be read by whoever may look at the function. Without
// its key the function does not start, since what is not signed would be refused.
func fetchKey(ctx context.Context, i *functions.Installation) error {
	arn := i.Environment.WebhookSecretARN
	if arn == "" {
		return nil
	}
	ctx, done := context.WithTimeout(ctx, fetchTime)
	defer done()
	secret, err := secretsmanager.NewFromConfig(i.AWS).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return fmt.Errorf("fetch the key that signs webhook calls: %w", err)
	}
	if err := i.Environment.SetWebhookSecret(aws.ToString(secret.SecretString)); err != nil {
		return fmt.Errorf("the secret %s: %w", arn, err)
	}
	return nil
}
