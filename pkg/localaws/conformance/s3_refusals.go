package conformance

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

func s3RefusalCases() []Case {
	return []Case{
		onS3("a put is refused for a key that is too long", func(o objects) {
			o.put(strings.Repeat("k", 1024), "x")
			_, err := o.putOn(strings.Repeat("k", 1025), "x", nil)
			o.refused(err, 400, "KeyTooLongError")
		}),
		onS3("a put is refused for too much metadata", func(o objects) {
			_, err := o.putOn("meta", "x", func(in *s3.PutObjectInput) { in.Metadata = map[string]string{"m": strings.Repeat("v", 2048)} })
			o.refused(err, 400, "MetadataTooLarge")
			o.holds("meta", "")
		}),
		onS3("a put is refused for an entity tag in If-None-Match", func(o objects) {
			_, err := o.putOn("none", "x", func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String(otherTag) })
			o.refused(err, 501, "NotImplemented")
		}),
		onS3("a bucket is refused for its name", func(o objects) {
			for _, name := range []string{"Upper", "ab", "a_b", "-ab", "ab-", "a..b"} {
				_, err := o.client.CreateBucket(o.ctx, &s3.CreateBucketInput{Bucket: &name})
				o.Log(name)
				o.refused(err, 400, "InvalidBucketName")
			}
		}),
		onS3("a list is refused for a token that was never given", func(o objects) {
			_, err := o.client.ListObjectsV2(o.ctx, &s3.ListObjectsV2Input{Bucket: &o.bucket, ContinuationToken: aws.String("!")})
			o.refused(err, 400, "InvalidArgument")
		}),
		onS3("a call is refused for another account's bucket", func(o objects) {
			_, err := o.client.HeadBucket(o.ctx, &s3.HeadBucketInput{Bucket: &o.bucket, ExpectedBucketOwner: aws.String("999999999999")})
			o.refused(err, 403, "Forbidden")
		}),
	}
}
