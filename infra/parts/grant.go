package parts

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
)

// GrantTable lets a role do these actions on the table itself.
func GrantTable(role awsiam.IGrantable, table awsdynamodb.ITable, actions ...string) {
	grant(role, "dynamodb:", actions, table.TableArn())
}

// GrantIndex lets a role query an index.
func GrantIndex(role awsiam.IGrantable, table awsdynamodb.ITable, index string) {
	grant(role, "dynamodb:", []string{"Query"}, jsii.String(*table.TableArn()+"/index/"+index))
}

// GrantQueue lets a role do these actions on a queue.
func GrantQueue(role awsiam.IGrantable, q awssqs.IQueue, actions ...string) {
	grant(role, "sqs:", actions, q.QueueArn())
}

// GrantObjects lets a role do these actions on the bucket's objects whose names
// begin so.
func GrantObjects(role awsiam.IGrantable, bucket awss3.IBucket, beginning string, actions ...string) {
	grant(role, "s3:", actions, jsii.String(*bucket.BucketArn()+"/"+beginning+"*"))
}

// GrantKey lets a role use the key that tables and queues are encrypted with,
// where the settings name one.
func (i Installation) GrantKey(role awsiam.IGrantable) {
	if i.Key != nil {
		i.Key.Grant(role, jsii.String("kms:Decrypt"), jsii.String("kms:GenerateDataKey"))
	}
}

func grant(role awsiam.IGrantable, service string, actions []string, on *string) {
	full := make([]*string, len(actions))
	for i, action := range actions {
		full[i] = jsii.String(service + action)
	}
	awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{Grantee: role, Actions: &full, ResourceArns: &[]*string{on}})
}
