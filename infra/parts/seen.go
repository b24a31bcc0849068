package parts

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// How a stack refers to what another one holds: by the name, from which the ARN
// follows. A reference of the CDK's own would be an export, and CloudFormation lets
// no export go, and none change, while another stack imports it: a setting that
// takes something away would fail at the first of the two.

// TellStream exports the ARN of a table's stream, which no name tells. It is
// exported whether or not anybody reads it, so that it never goes.
func (i Installation) TellStream(table awsdynamodb.Table, word string) {
	awscdk.NewCfnOutput(awscdk.Stack_Of(table), jsii.String("Stream-"+word), &awscdk.CfnOutputProps{Value: table.TableStreamArn(), ExportName: i.streamExport(word)})
}

func (i Installation) streamExport(word string) *string { return jsii.String(i.Name(word + "-stream")) }

// SeenTable is a table as another stack sees it: its name and, where it has one
// that was told, its stream under this word.
func (i Installation) SeenTable(from constructs.Construct, id, name, stream string) awsdynamodb.ITable {
	seen := &awsdynamodb.TableAttributes{TableName: &name, EncryptionKey: i.Key}
	if stream != "" {
		seen.TableStreamArn = awscdk.Fn_ImportValue(i.streamExport(stream))
	}
	return awsdynamodb.Table_FromTableAttributes(from, &id, seen)
}

// SeenWork are a pool's queues as another stack sees them.
func (i Installation) SeenWork(from constructs.Construct, pool string) WorkQueue {
	within := constructs.NewConstruct(from, jsii.String("Seen-"+pool))
	see := func(id, name string) awssqs.IQueue {
		arn := awscdk.Stack_Of(from).FormatArn(&awscdk.ArnComponents{Service: jsii.String("sqs"), Resource: &name})
		seen := &awssqs.QueueAttributes{QueueArn: arn}
		if i.Key != nil {
			seen.KeyArn = i.Key.KeyArn()
		}
		return awssqs.Queue_FromQueueAttributes(within, &id, seen)
	}
	names := i.Queues()
	return WorkQueue{Main: see("Main", names.Work(pool)), Isolation: see("Isolation", names.Isolation(pool)), DeadLetter: see("DeadLetter", names.DeadLetter(pool))}
}

// SeenBucket is the archive's bucket as another stack sees it.
func (i Installation) SeenBucket(from constructs.Construct, id string) awss3.IBucket {
	return awss3.Bucket_FromBucketAttributes(from, &id, &awss3.BucketAttributes{BucketName: i.bucketName(), EncryptionKey: i.Key})
}

// SeenTopic is the topic that alarms are sent to as another stack sees it.
func (i Installation) SeenTopic(from constructs.Construct, id string) awssns.ITopic {
	arn := &i.Settings.Alarms.TopicARN
	if *arn == "" {
		arn = awscdk.Stack_Of(from).FormatArn(&awscdk.ArnComponents{Service: jsii.String("sns"), Resource: jsii.String(i.topicName())})
	}
	return awssns.Topic_FromTopicArn(from, &id, arn)
}
