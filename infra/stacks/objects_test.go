package stacks_test

import (
	"slices"
	"strings"
	"testing"
)

// begins is the resource of that type whose id begins so.
func begins(t *testing.T, i installation, kind, id string) resource {
	t.Helper()
	for _, r := range i.of(t, kind) {
		if strings.HasPrefix(r.ID, id) {
			return r
		}
	}
	t.Fatalf("there is no %s %s", kind, id)
	return resource{}
}

func TestTheBucketOfWhatIsTooLargeOutlivesItsStackAndIsClosed(t *testing.T) {
	i := installed(t, "profile: small")
	b := begins(t, i, "AWS::S3::Bucket", "Objects")
	b.expect(t, map[string]string{
		"BucketName":                                `{"Fn::Join":["",["belfry-data-",{"Ref":"AWS::AccountId"},"-",{"Ref":"AWS::Region"}]]}`,
		"PublicAccessBlockConfiguration":            `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`,
		"OwnershipControls.Rules.0.ObjectOwnership": "BucketOwnerEnforced",
		"BucketEncryption.ServerSideEncryptionConfiguration.0.ServerSideEncryptionByDefault.SSEAlgorithm": "AES256",
		// Thirty days that executions are kept, and those that they can run.
		"LifecycleConfiguration.Rules.1.Prefix": "checkpoints/", "LifecycleConfiguration.Rules.1.ExpirationInDays": "75",
		"LifecycleConfiguration.Rules.2": "",
	})
	if b.Deletion != "Retain" || b.Replace != "Retain" {
		t.Errorf("the bucket goes with its stack: %s, %s", b.Deletion, b.Replace)
	}
	policy := begins(t, i, "AWS::S3::BucketPolicy", "Objects").get("PolicyDocument")
	for _, denied := range []string{`"Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny"`, `"Condition":{"NumericLessThan":{"s3:TlsVersion":1.2}},"Effect":"Deny"`} {
		if !strings.Contains(policy, denied) {
			t.Errorf("the policy does not deny %s: %s", denied, policy)
		}
	}
}

func TestTheBucketsSettings(t *testing.T) {
	for file, want := range map[string]map[string]string{
		"profile: small\nretention_days: 400":          {"LifecycleConfiguration.Rules.1.ExpirationInDays": "445"},
		"profile: small\nbucket: {payload_days: 90}":   {"LifecycleConfiguration.Rules.2.Prefix": "payloads/", "LifecycleConfiguration.Rules.2.ExpirationInDays": "90"},
		"profile: small\nbucket: {name: acme-objects}": {"BucketName": "acme-objects"},
		"profile: small\ntables: {key_arn: \"" + key + "\"}": {
			"BucketEncryption.ServerSideEncryptionConfiguration.0": `{"BucketKeyEnabled":true,"ServerSideEncryptionByDefault":{"KMSMasterKeyID":"` + key + `","SSEAlgorithm":"aws:kms"}}`},
	} {
		t.Run(file, func(t *testing.T) { begins(t, installed(t, file), "AWS::S3::Bucket", "Objects").expect(t, want) })
	}
}

func TestWhoIsToldTheBucketAndMayReadAndWriteIt(t *testing.T) {
	const own = `belfry-data-{"Ref":"AWS::AccountId"}-{"Ref":"AWS::Region"}/`
	i := installed(t, "profile: small\npayloads: [{tenant: acme, from: \"s3://acme-in/jobs/\"}]")
	for _, f := range i.of(t, "AWS::Lambda::Function") {
		name := f.get("FunctionName")
		told := f.get("Environment.Variables.BELFRY_BUCKET") != "" && f.get("Environment.Variables.BELFRY_PAYLOADS") == `{"acme":["s3://acme-in/jobs/"]}`
		if want := name == "belfry-api" || strings.HasPrefix(name, "belfry-work-"); told != want {
			t.Errorf("%s is told where objects lie: %v", name, told)
		}
	}
	works := []string{"s3:DeleteObject on " + own + "checkpoints/*", "s3:GetObject on " + own + "checkpoints/*", "s3:GetObject on " + own + "payloads/*", "s3:GetObject on acme-in/jobs/*",
		"s3:PutObject on " + own + "checkpoints/*"}
	for _, r := range rolesOf(t, i) {
		rights := slices.DeleteFunc(slices.Clone(r.Rights), func(right string) bool {
			return !strings.HasPrefix(right, "s3:") || strings.Contains(right, "belfry-archive-")
		})
		var want []string
		switch {
		case strings.HasPrefix(r.Name, "work") && !strings.HasPrefix(r.Name, "workers/"), strings.HasSuffix(r.Name, "TaskTask"):
			want = works
		case r.Name == "api":
			want = []string{"s3:PutObject on " + own + "payloads/*"}
		}
		slices.Sort(want)
		if !slices.Equal(rights, want) {
			t.Errorf("%s may %v, want %v", r.Name, rights, want)
		}
	}
}
