package stacks_test

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// ofAnAccount are the properties by which a resource has a name that no other in
// its account and region may have.
var ofAnAccount = []string{"AlarmName", "BucketName", "ClusterName", "DashboardName", "Family", "FunctionName", "GroupName", "LogGroupName", "Name", "QueueName",
	"ScheduleGroupName", "ServiceName", "TableName", "TopicName"}

// A prefix holds no hyphen (the settings refuse one) and the first hyphen of a
// name ends it. So no pool's name makes one installation's queue another's.
func TestEveryNameSaysUpToItsFirstHyphenWhoseItIs(t *testing.T) {
	named := 0
	for _, file := range []string{"profile: small\nprefix: acme", "profile: large\nprefix: acme"} {
		for stack, template := range installed(t, file) {
			if !strings.HasPrefix(*template.Stack.StackName(), "acme-") {
				t.Errorf("the stack is named %s", *template.Stack.StackName())
			}
			for _, r := range template.Resources {
				for property, value := range r.Properties {
					name, literal := value.(string)
					if !literal || !slices.Contains(ofAnAccount, property) {
						continue
					}
					named++
					if whose, _, _ := strings.Cut(path.Base(name), "-"); whose != "acme" {
						t.Errorf("%s: %s %s is named %s, which says it is %q's", stack, r.Type, r.ID, name, whose)
					}
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("%d names were looked at: the list of properties has gone blind", named)
	}
}

// What stays behind under a name of its own is in the way of the next deployment,
// unless that may take it over: only data is worth that.
func TestOnlyWhatHoldsDataStaysBehindUnderItsName(t *testing.T) {
	for _, profile := range []string{"small", "large"} {
		for stack, template := range installed(t, "profile: "+profile) {
			for _, r := range template.Resources {
				holds := r.Type == "AWS::DynamoDB::Table" || r.Type == "AWS::SQS::Queue" && stack == "data" || r.Type == "AWS::S3::Bucket"
				kept := r.Deletion == "Retain"
				if holds && !kept {
					t.Errorf("%s: %s %s goes with its stack", stack, r.Type, r.ID)
				}
				for property, value := range r.Properties {
					if name, literal := value.(string); literal && kept && !holds && slices.Contains(ofAnAccount, property) {
						t.Errorf("%s: %s %s stays behind as %s", stack, r.Type, r.ID, name)
					}
				}
			}
		}
	}
}
