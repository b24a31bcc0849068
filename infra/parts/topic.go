package parts

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// NewAlarmTopic is the topic that alarms are sent to: the one that the settings
// name, or one that is made.
func NewAlarmTopic(scope constructs.Construct, i Installation) awssns.ITopic {
	s := i.Settings.Alarms
	if s.TopicARN != "" {
		return awssns.Topic_FromTopicArn(scope, jsii.String("Alarms"), &s.TopicARN)
	}
	topic := awssns.NewTopic(scope, jsii.String("Alarms"), &awssns.TopicProps{TopicName: jsii.String(i.topicName()),
		DisplayName: jsii.String("Alarms of " + i.Settings.Prefix), EnforceSSL: jsii.Bool(true)})
	for _, address := range s.Emails {
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(&address, nil))
	}
	Accept(topic, "AwsSolutions-SNS2", "CloudWatch cannot publish to a topic under the key that AWS manages; alarms carry names and figures, no data of jobs.")
	return topic
}

func (i Installation) topicName() string { return i.Name("alarms") }
