package parts

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// Folders of the bucket, as the runtime names objects.
const (
	checkpoints = "checkpoints/"
	payloads    = "payloads/"
)

// checkpointDays is how long a checkpoint is kept beyond what an execution is kept
// after its end: an execution may take 14 days of attempts and wait for a person, and
// what it saves last is saved before its end.
const checkpointDays = 45

// NewDataBucket makes the bucket for what is too large for the tables: checkpoints,
// and payloads that tenants store. It survives its stack. Nobody speaks to it but by
// TLS, and nobody outside of the account's own principals.
func NewDataBucket(scope constructs.Construct, id string, i Installation) awss3.Bucket {
	s := i.Settings
	rules := []*awss3.LifecycleRule{
		{Id: jsii.String("parts"), AbortIncompleteMultipartUploadAfter: days(1)},
		{Id: jsii.String("checkpoints"), Prefix: jsii.String(checkpoints), Expiration: days(s.RetentionDays + checkpointDays)},
	}
	if s.Bucket.PayloadDays > 0 {
		rules = append(rules, &awss3.LifecycleRule{Id: jsii.String("payloads"), Prefix: jsii.String(payloads), Expiration: days(s.Bucket.PayloadDays)})
	}
	props := &awss3.BucketProps{
		BucketName: i.dataBucketName(),
		Encryption: awss3.BucketEncryption_S3_MANAGED, BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(), ObjectOwnership: awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		EnforceSSL: jsii.Bool(true), MinimumTLSVersion: jsii.Number(1.2), RemovalPolicy: awscdk.RemovalPolicy_RETAIN, LifecycleRules: &rules,
	}
	if i.Key != nil {
		props.Encryption, props.EncryptionKey, props.BucketKeyEnabled = awss3.BucketEncryption_KMS, i.Key, jsii.Bool(true)
	}
	bucket := awss3.NewBucket(scope, &id, props)
	Accept(bucket, "AwsSolutions-S1", "Workers alone read and write it, and tenants store payloads by requests that the API signs one by one. Who did is told by CloudTrail's data events; access logs would be a second bucket to keep.")
	return bucket
}

func (i Installation) dataBucketName() *string {
	if name := i.Settings.Bucket.Name; name != "" {
		return &name
	}
	return jsii.String(i.Name("data") + "-" + *awscdk.Aws_ACCOUNT_ID() + "-" + *awscdk.Aws_REGION())
}

// SeenDataBucket is that bucket as another stack sees it.
func (i Installation) SeenDataBucket(from constructs.Construct, id string) awss3.IBucket {
	return awss3.Bucket_FromBucketAttributes(from, &id, &awss3.BucketAttributes{BucketName: i.dataBucketName(), EncryptionKey: i.Key})
}

// GrantProgress lets a role keep checkpoints, and read payloads wherever the settings
// let tenants have them.
func (i Installation) GrantProgress(role awsiam.IRole, bucket awss3.IBucket) {
	GrantObjects(role, bucket, checkpoints, "GetObject", "PutObject", "DeleteObject")
	GrantObjects(role, bucket, payloads, "GetObject")
	acceptObjects(role)
	for _, place := range i.Settings.Payloads {
		grant(role, "s3:", []string{"GetObject"}, jsii.String("arn:"+*awscdk.Aws_PARTITION()+":s3:::"+strings.TrimPrefix(place.From, "s3://")+"*"))
	}
}

// GrantUploads lets a role sign uploads of payloads.
func GrantUploads(role awsiam.IRole, bucket awss3.IBucket) {
	GrantObjects(role, bucket, payloads, "PutObject")
	acceptObjects(role)
}

// acceptObjects is about the names of objects, of which only the folder is known.
func acceptObjects(role awsiam.IRole) {
	reason := "Checkpoints and payloads have no names before they are made, and where tenants' payloads may lie is a folder in the settings."
	cdknag.NagSuppressions_AddResourceSuppressions(role, &[]*cdknag.NagPackSuppression{{Id: jsii.String("AwsSolutions-IAM5"), Reason: &reason,
		AppliesTo: &[]any{&cdknag.RegexAppliesTo{Regex: jsii.String("/^Resource::arn:.*:s3:::.*\\*$/")}}}}, jsii.Bool(true))
}

// tellObjects is what functions and workers are told that reach the bucket.
func (i Installation) tellObjects(told map[string]*string) {
	told["BELFRY_BUCKET"] = i.dataBucketName()
	if text := i.Settings.Payloads.Text(); text != "" {
		told["BELFRY_PAYLOADS"] = &text
	}
}
