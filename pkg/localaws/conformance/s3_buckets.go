package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func s3BucketCases() []Case {
	return []Case{
		onS3("a bucket that was made is there", func(o objects) {
			out, err := o.client.HeadBucket(o.ctx, &s3.HeadBucketInput{Bucket: &o.bucket})
			if err != nil || aws.ToString(out.BucketRegion) != "us-east-1" {
				o.Errorf("answered %+v, %v", out, err)
			}
		}),
		onS3("making a bucket again changes nothing in us-east-1", func(o objects) {
			o.put("kept", "content")
			o.create("objects")
			o.holds("kept", "content")
		}),
		onS3("a bucket elsewhere than the endpoint is refused", func(o objects) {
			_, err := o.client.CreateBucket(o.ctx, &s3.CreateBucketInput{Bucket: aws.String(o.prefix + "far"),
				CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "us-east-1"}})
			o.refused(err, 400, "InvalidLocationConstraint")
		}),
		onS3("a bucket that is not there is told by name", func(o objects) {
			o.bucket += "-none"
			_, err := o.putOn("x", "x", nil)
			o.refused(err, 404, "NoSuchBucket")
			_, err = o.getOn("x", nil)
			o.refused(err, 404, "NoSuchBucket")
			o.refused(o.delete("x", nil), 404, "NoSuchBucket")
			_, err = o.client.ListObjectsV2(o.ctx, &s3.ListObjectsV2Input{Bucket: &o.bucket})
			o.refused(err, 404, "NoSuchBucket")
			_, err = o.client.HeadBucket(o.ctx, &s3.HeadBucketInput{Bucket: &o.bucket})
			o.refused(err, 404, "NotFound")
		}),
		onS3("objects of two buckets do not meet", func(o objects) {
			o.put("same", "one")
			other := o
			other.bucket = o.create("objects2")
			other.put("same", "two")
			o.holds("same", "one")
			other.holds("same", "two")
		}),
	}
}
