package stacks_test

import (
	"slices"
	"strings"
	"testing"
)

// streamMapping is what invokes a function with the changes of a table.
func streamMapping(t *testing.T, i installation, table, function string) resource {
	t.Helper()
	for _, m := range i.of(t, "AWS::Lambda::EventSourceMapping") {
		if i.thing("core", m.Properties["EventSourceArn"]) == table && strings.HasPrefix(m.get("FunctionName.Ref"), function+"Function") {
			return m
		}
	}
	t.Fatalf("%s is not told the changes of %s", function, table)
	return resource{}
}

func TestTheArchivesBucketOutlivesItsStackAndIsClosed(t *testing.T) {
	b := begins(t, installed(t, "profile: small"), "AWS::S3::Bucket", "Archive")
	b.expect(t, map[string]string{"VersioningConfiguration.Status": "Enabled", "ObjectLockEnabled": "true", "ObjectLockConfiguration": "",
		"BucketName":                                `{"Fn::Join":["",["belfry-archive-",{"Ref":"AWS::AccountId"},"-",{"Ref":"AWS::Region"}]]}`,
		"PublicAccessBlockConfiguration":            `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`,
		"OwnershipControls.Rules.0.ObjectOwnership": "BucketOwnerEnforced",
		"BucketEncryption.ServerSideEncryptionConfiguration.0.ServerSideEncryptionByDefault.SSEAlgorithm": "AES256",
		"LifecycleConfiguration.Rules.0.Status":                                                           "Enabled",
		"LifecycleConfiguration.Rules.0.ExpirationInDays":                                                 "400",
		"LifecycleConfiguration.Rules.0.Transitions":                                                      `[{"StorageClass":"GLACIER_IR","TransitionInDays":90}]`,
		"LifecycleConfiguration.Rules.0.NoncurrentVersionExpiration.NoncurrentDays":                       "30",
		"LifecycleConfiguration.Rules.1.ExpiredObjectDeleteMarker":                                        "true",
	})
	if b.Deletion != "Retain" || b.Replace != "Retain" {
		t.Errorf("the bucket goes with its stack: %s, %s", b.Deletion, b.Replace)
	}
}

func TestTheArchivesBucketSpeaksTLSAlone(t *testing.T) {
	policy := begins(t, installed(t, "profile: small"), "AWS::S3::BucketPolicy", "Archive").get("PolicyDocument")
	for _, denied := range []string{`"Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny"`, `"Condition":{"NumericLessThan":{"s3:TlsVersion":1.2}},"Effect":"Deny"`} {
		if !strings.Contains(policy, denied) {
			t.Errorf("the policy does not deny %s: %s", denied, policy)
		}
	}
}

func TestHowLongTheArchiveKeepsIsASetting(t *testing.T) {
	for file, want := range map[string]map[string]string{
		"profile: small\narchive: {keep_days: 2557, cold_days: 30}": {"LifecycleConfiguration.Rules.0.ExpirationInDays": "2557",
			"LifecycleConfiguration.Rules.0.Transitions.0.TransitionInDays": "30"},
		"profile: small\narchive: {keep_days: 0, cold_days: 0}": {"LifecycleConfiguration.Rules.0.ExpirationInDays": "", "LifecycleConfiguration.Rules.0.Transitions": "",
			"LifecycleConfiguration.Rules.1": "", "ObjectLockConfiguration": ""},
		"profile: small\narchive: {bucket: acme-history}":                  {"BucketName": "acme-history"},
		"profile: small\narchive: {lock_days: 365}":                        {"ObjectLockConfiguration.Rule.DefaultRetention": `{"Days":365,"Mode":"GOVERNANCE"}`},
		"profile: small\narchive: {lock_days: 365, lock_mode: compliance}": {"ObjectLockConfiguration.Rule.DefaultRetention": `{"Days":365,"Mode":"COMPLIANCE"}`},
		"profile: small\ntables: {key_arn: \"" + key + "\"}": {
			"BucketEncryption.ServerSideEncryptionConfiguration.0": `{"BucketKeyEnabled":true,"ServerSideEncryptionByDefault":{"KMSMasterKeyID":"` + key + `","SSEAlgorithm":"aws:kms"}}`},
	} {
		t.Run(file, func(t *testing.T) { begins(t, installed(t, file), "AWS::S3::Bucket", "Archive").expect(t, want) })
	}
}

func TestTheArchiveReadsBothStreamsBesideRecord(t *testing.T) {
	i := installed(t, "profile: small\narchive: {window_seconds: 60}")
	for table, filter := range map[string]string{"belfry-executions": `{"eventName":["INSERT","MODIFY"]}`,
		"belfry-control": `{"dynamodb":{"Keys":{"pk":{"S":[{"prefix":"AUDIT#"}]}}},"eventName":["INSERT"]}`} {
		m := streamMapping(t, i, table, "Archive")
		m.expect(t, map[string]string{"StartingPosition": "TRIM_HORIZON", "BatchSize": "10000", "MaximumBatchingWindowInSeconds": "60", "MaximumRecordAgeInSeconds": "43200",
			"BisectBatchOnFunctionError": "true", "FunctionResponseTypes.0": "ReportBatchItemFailures", "ParallelizationFactor": "", "MaximumRetryAttempts": ""})
		if got := m.get("FilterCriteria.Filters.0.Pattern"); got != filter {
			t.Errorf("of %s it is told %s, want %s", table, got, filter)
		}
		if got := i.thing("core", at(m.Properties, "DestinationConfig.OnFailure.Destination")); !strings.HasPrefix(got, "ArchiveFailures") {
			t.Errorf("what of %s is given up goes to %s", table, got)
		}
	}
	if m := streamMapping(t, i, "belfry-executions", "Record"); m.get("MaximumBatchingWindowInSeconds") != "5" {
		t.Errorf("record waits for the archive's window: %s", m.get("MaximumBatchingWindowInSeconds"))
	}
	i.named(t, "AWS::DynamoDB::Table", "TableName", "belfry-control").expect(t, map[string]string{"StreamSpecification.StreamViewType": "NEW_AND_OLD_IMAGES"})
}

func TestTheArchiveIsWatched(t *testing.T) {
	i := installed(t, "profile: small")
	i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-archive-behind").expect(t, map[string]string{"Namespace": "AWS/Lambda", "MetricName": "IteratorAge",
		"Dimensions.0.Value": "belfry-archive", "Threshold": "900000", "Statistic": "Maximum", "Period": "900", "EvaluationPeriods": "1"})
	i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-archive-failures-not-empty").expect(t, map[string]string{"Namespace": "AWS/SQS", "Threshold": "1",
		"MetricName": "ApproximateNumberOfMessagesVisible"})
}

func TestOnlyTheArchiveIsToldItsBucketAndMayAddToIt(t *testing.T) {
	i := installed(t, "profile: small")
	for _, f := range i.of(t, "AWS::Lambda::Function") {
		if told := f.get("Environment.Variables.BELFRY_ARCHIVE_BUCKET") != ""; told != (f.get("FunctionName") == "belfry-archive") {
			t.Errorf("%s is told the bucket: %v", f.get("FunctionName"), told)
		}
	}
	for _, r := range rolesOf(t, i) {
		rights := slices.DeleteFunc(slices.Clone(r.Rights), func(right string) bool {
			return !strings.HasPrefix(right, "s3:") || strings.Contains(right, " on belfry-data-")
		})
		if want := r.Name == "archive"; want != slices.Equal(rights, []string{`s3:PutObject on belfry-archive-{"Ref":"AWS::AccountId"}-{"Ref":"AWS::Region"}/kind=*`}) || !want && len(rights) > 0 {
			t.Errorf("%s may %v", r.Name, rights)
		}
	}
}

func TestWithoutAnArchiveNothingOfItIsMade(t *testing.T) {
	i := installed(t, "profile: small\narchive: {enabled: false}")
	for _, word := range []string{"data", "core", "watch"} {
		for _, r := range i[word].Resources {
			if strings.HasPrefix(r.ID, "Archive") {
				t.Errorf("%s has %s", word, r.ID)
			}
		}
	}
}
