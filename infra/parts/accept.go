package parts

import (
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// Accept records why a finding of the review rules is right as it is. With
// findings only those are accepted, otherwise all of the rule on the construct
// and below it.
func Accept(on constructs.IConstruct, rule, reason string, findings ...string) {
	s := &cdknag.NagPackSuppression{Id: &rule, Reason: &reason}
	if len(findings) > 0 {
		var only []interface{}
		for _, f := range findings {
			only = append(only, f)
		}
		s.AppliesTo = &only
	}
	cdknag.NagSuppressions_AddResourceSuppressions(on, &[]*cdknag.NagPackSuppression{s}, jsii.Bool(true))
}

// acceptKeyWords is about a role that sends into a queue under a key of the
// settings: the CDK grants families of actions on that one key.
func acceptKeyWords(i Installation, on constructs.IConstruct) {
	if i.Key != nil {
		Accept(on, "AwsSolutions-IAM5", "Sending into an encrypted queue; all of these are actions on the one key.", "Action::kms:GenerateDataKey*", "Action::kms:ReEncrypt*")
	}
}
