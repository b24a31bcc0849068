package stacks_test

import (
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

func TestEveryTableIsKept(t *testing.T) {
	for _, profile := range []string{"profile: small", "profile: large"} {
		for _, table := range installed(t, profile).of(t, "AWS::DynamoDB::Table") {
			table.expect(t, map[string]string{"BillingMode": "PAY_PER_REQUEST", "DeletionProtectionEnabled": "true",
				"PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": "true"})
			if table.Deletion != "Retain" || table.Replace != "Retain" {
				t.Errorf("%s goes with its stack (%s) or with a change (%s)", table.ID, table.Deletion, table.Replace)
			}
		}
	}
}

func TestTablesAndTheirIndexesAreWarmedAlike(t *testing.T) {
	warm := `{"ReadUnitsPerSecond":30000,"WriteUnitsPerSecond":40000}`
	indexes := 0
	for _, table := range installed(t, "profile: large").of(t, "AWS::DynamoDB::Table") {
		if got := table.get("WarmThroughput"); got != warm {
			t.Errorf("%s is warmed for %s, want %s", table.ID, got, warm)
		}
		list, _ := at(table.Properties, "GlobalSecondaryIndexes").([]any)
		for _, index := range list {
			indexes++
			if got := text(at(index, "WarmThroughput")); got != warm {
				t.Errorf("an index of %s is warmed for %s, want %s: it would reject the table's writes", table.ID, got, warm)
			}
			if got := text(at(index, "ContributorInsightsSpecification.Mode")); got != "THROTTLED_KEYS" {
				t.Errorf("an index of %s reports %q", table.ID, got)
			}
		}
	}
	if indexes != 3 {
		t.Errorf("%d indexes, want 3", indexes)
	}
	for _, table := range installed(t, "profile: small").of(t, "AWS::DynamoDB::Table") {
		table.expect(t, map[string]string{"WarmThroughput": "", "ContributorInsightsSpecification": ""})
	}
}

const key = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"

func TestAKeyOfOnesOwnEncryptsTablesAndQueues(t *testing.T) {
	i := installed(t, "profile: small\ntables: {key_arn: \""+key+"\"}")
	for _, table := range i.of(t, "AWS::DynamoDB::Table") {
		table.expect(t, map[string]string{"SSESpecification.SSEEnabled": "true", "SSESpecification.KMSMasterKeyId": key})
	}
	for _, q := range i.of(t, "AWS::SQS::Queue") {
		q.expect(t, map[string]string{"KmsMasterKeyId": key, "SqsManagedSseEnabled": ""})
	}
	for _, role := range rolesOf(t, i) {
		if role.touchesData() && !role.may("kms:Decrypt") {
			t.Errorf("%s cannot use the key that its data is encrypted with", role.Name)
		}
	}
}

func TestEveryQueueIsEncryptedAndClosedToPlainHTTP(t *testing.T) {
	i := installed(t, "profile: small")
	policies := map[string]string{}
	for _, policy := range i.of(t, "AWS::SQS::QueuePolicy") {
		policies[text(at(policy.Properties, "Queues.0.Ref"))] = policy.get("PolicyDocument")
	}
	for _, q := range i.of(t, "AWS::SQS::Queue") {
		q.expect(t, map[string]string{"SqsManagedSseEnabled": "true"})
		if policy := policies[q.ID]; !strings.Contains(policy, `"Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny"`) {
			t.Errorf("%s may be called without TLS: %s", q.ID, policy)
		}
	}
}

func TestAPoolHasThreeQueuesThatKeepMessagesForTwoWeeks(t *testing.T) {
	i := installed(t, "profile: small")
	for _, pool := range []string{"fast-io", "external-api", "cpu-heavy", "long-running"} {
		dead := i.named(t, "AWS::SQS::Queue", "QueueName", "belfry-"+pool+"-dlq")
		for _, suffix := range []string{"", "-isolation", "-dlq"} {
			q := i.named(t, "AWS::SQS::Queue", "QueueName", "belfry-"+pool+suffix)
			q.expect(t, map[string]string{"MessageRetentionPeriod": "1209600"})
			if q.Deletion != "Retain" {
				t.Errorf("%s goes with its stack: %s", q.ID, q.Deletion)
			}
			if suffix != "-dlq" {
				q.expect(t, map[string]string{"RedrivePolicy.maxReceiveCount": "50", "RedrivePolicy.deadLetterTargetArn.Fn::GetAtt.0": dead.ID})
			}
		}
	}
}

func TestEveryPoolsQueuesHaveAlarms(t *testing.T) {
	i := installed(t, "profile: small")
	for _, pool := range []string{"fast-io", "external-api", "cpu-heavy", "long-running"} {
		i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-"+pool+"-oldest").expect(t, map[string]string{"Namespace": "AWS/SQS",
			"MetricName": "ApproximateAgeOfOldestMessage", "Threshold": "1800", "Dimensions.0.Value": "belfry-" + pool})
		i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-"+pool+"-isolation-oldest").expect(t, map[string]string{"Dimensions.0.Value": "belfry-" + pool + "-isolation"})
		i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-"+pool+"-dlq-not-empty").expect(t, map[string]string{"Namespace": "AWS/SQS",
			"MetricName": "ApproximateNumberOfMessagesVisible", "Threshold": "1", "Dimensions.0.Value": "belfry-" + pool + "-dlq"})
	}
}

func TestAlarmsAreSentWhenTheyBeginAndWhenTheyEnd(t *testing.T) {
	for name, file := range map[string]string{"a topic that is made": "profile: small\nalarms: {emails: [ops@example.com]}",
		"a topic that is there": "profile: small\nalarms: {topic_arn: \"arn:aws:sns:eu-central-1:111122223333:ops\"}"} {
		t.Run(name, func(t *testing.T) {
			quiet := map[string]bool{}
			for _, a := range observe.Alarms(observe.Site{}) {
				quiet["belfry-"+a.Name] = a.Part
			}
			for _, alarm := range installed(t, file).of(t, "AWS::CloudWatch::Alarm") {
				if strings.HasPrefix(alarm.get("AlarmDescription"), "Not an alarm") || quiet[alarm.get("AlarmName")] {
					continue
				}
				if alarm.get("AlarmActions.0") == "" || alarm.get("AlarmActions.0") != alarm.get("OKActions.0") {
					t.Errorf("%s is sent to %q and %q", alarm.ID, alarm.get("AlarmActions"), alarm.get("OKActions"))
				}
				if alarm.get("AlarmDescription") == "" {
					t.Errorf("%s does not say what it means", alarm.ID)
				}
			}
		})
	}
}
