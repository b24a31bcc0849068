package parts

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/settings"
)

// undoDays is how long what was deleted from the archive can be brought back.
const undoDays = 30

// NewArchiveBucket makes the bucket of the archive, which survives its stack and
// is named so that a later stack can take it over: if the settings say the name,
// since only one that stands in the template as a text is taken over. Locking is possible from the first
// day on, since a bucket cannot learn it later without being made anew; whether
// objects are locked is a setting.
func NewArchiveBucket(scope constructs.Construct, id string, i Installation) awss3.Bucket {
	s := i.Settings.Archive
	props := &awss3.BucketProps{
		BucketName: i.bucketName(),
		Encryption: awss3.BucketEncryption_S3_MANAGED, BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(), ObjectOwnership: awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		EnforceSSL: jsii.Bool(true), MinimumTLSVersion: jsii.Number(1.2), Versioned: jsii.Bool(true), ObjectLockEnabled: jsii.Bool(true),
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN, LifecycleRules: lifecycle(s),
	}
	if i.Key != nil {
		props.Encryption, props.EncryptionKey, props.BucketKeyEnabled = awss3.BucketEncryption_KMS, i.Key, jsii.Bool(true)
	}
	if s.LockDays > 0 {
		props.ObjectLockDefaultRetention = awss3.ObjectLockRetention_Governance(days(s.LockDays))
		if s.LockMode == "compliance" {
			props.ObjectLockDefaultRetention = awss3.ObjectLockRetention_Compliance(days(s.LockDays))
		}
	}
	bucket := awss3.NewBucket(scope, &id, props)
	Accept(bucket, "AwsSolutions-S1", "One function writes the archive, and nobody else may. Who reads it is told by CloudTrail's data events, which also name who; access logs would be a second bucket to keep.")
	return bucket
}

func (i Installation) bucketName() *string {
	if name := i.Settings.Archive.Bucket; name != "" {
		return &name
	}
	return jsii.String(i.Name("archive") + "-" + *awscdk.Aws_ACCOUNT_ID() + "-" + *awscdk.Aws_REGION())
}

// lifecycle lets objects get cheaper, and go in the end. An object whose days
// are over gets a mark first; the rules take the version and then the mark away.
func lifecycle(s settings.Archive) *[]*awss3.LifecycleRule {
	objects := &awss3.LifecycleRule{Id: jsii.String("objects"), AbortIncompleteMultipartUploadAfter: days(1), NoncurrentVersionExpiration: days(undoDays)}
	if s.ColdDays > 0 {
		objects.Transitions = &[]*awss3.Transition{{StorageClass: awss3.StorageClass_GLACIER_INSTANT_RETRIEVAL(), TransitionAfter: days(s.ColdDays)}}
	}
	if s.KeepDays == 0 {
		return &[]*awss3.LifecycleRule{objects}
	}
	objects.Expiration = days(s.KeepDays)
	return &[]*awss3.LifecycleRule{objects, {Id: jsii.String("marks"), ExpiredObjectDeleteMarker: jsii.Bool(true)}}
}

func days(n int) awscdk.Duration { return awscdk.Duration_Days(jsii.Number(n)) }
