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

func s3ListCases() []Case {
	return []Case{
		onS3("a list shows the keys of a prefix, in the order of their bytes", func(o objects) {
			for _, key := range []string{"b/2", "a", "b/10", "b", "b/ä", "c", "b/1"} {
				o.put(key, key)
			}
			out, err := o.client.ListObjectsV2(o.ctx, &s3.ListObjectsV2Input{Bucket: &o.bucket, Prefix: aws.String("b/")})
			if err != nil {
				o.Fatal(err)
			}
			o.wantKeys(out, "b/1", "b/10", "b/2", "b/ä")
			if one := out.Contents[1]; aws.ToInt64(one.Size) != 4 || aws.ToString(one.ETag) != aws.ToString(o.get("b/10").ETag) || one.StorageClass != "STANDARD" {
				o.Errorf("b/10 is shown as %+v", one)
			}
			if aws.ToInt32(out.KeyCount) != 4 || aws.ToBool(out.IsTruncated) {
				o.Errorf("%d keys, truncated %v", aws.ToInt32(out.KeyCount), aws.ToBool(out.IsTruncated))
			}
		}),
		onS3("a list comes in pages without gap or repetition", pagedList),
		onS3("a list begins behind the key that is named", func(o objects) {
			for _, key := range []string{"a", "b", "c"} {
				o.put(key, key)
			}
			for after, want := range map[string][]string{"a": {"b", "c"}, "aa": {"b", "c"}, "c": nil, "0": {"a", "b", "c"}} {
				out, err := o.client.ListObjectsV2(o.ctx, &s3.ListObjectsV2Input{Bucket: &o.bucket, StartAfter: &after})
				if err != nil {
					o.Fatal(err)
				}
				o.wantKeys(out, want...)
			}
		}),
		onS3("an empty list is no error", func(o objects) {
			out, err := o.client.ListObjectsV2(o.ctx, &s3.ListObjectsV2Input{Bucket: &o.bucket})
			if err != nil || len(out.Contents) != 0 || aws.ToInt32(out.KeyCount) != 0 || aws.ToInt32(out.MaxKeys) != 1000 {
				o.Errorf("answered %+v, %v", out, err)
			}
		}),
	}
}

func (o objects) wantKeys(out *s3.ListObjectsV2Output, want ...string) {
	o.Helper()
	var keys []string
	for _, one := range out.Contents {
		keys = append(keys, aws.ToString(one.Key))
	}
	if len(keys) != len(want) {
		o.Errorf("keys are %q, want %q", keys, want)
		return
	}
	for i := range keys {
		if keys[i] != want[i] {
			o.Errorf("keys are %q, want %q", keys, want)
			return
		}
	}
}

func pagedList(o objects) {
	var want []string
	for _, key := range []string{"p/1", "p/2", "p/3", "p/4", "p/5"} {
		o.put(key, key)
		want = append(want, key)
	}
	o.put("q", "q")
	all, pages := &s3.ListObjectsV2Output{}, 0
	in := &s3.ListObjectsV2Input{Bucket: &o.bucket, Prefix: aws.String("p/"), MaxKeys: aws.Int32(2)}
	for more := true; more && pages < 5; pages++ {
		out, err := o.client.ListObjectsV2(o.ctx, in)
		if err != nil {
			o.Fatal(err)
		}
		all.Contents = append(all.Contents, out.Contents...)
		more, in.ContinuationToken = aws.ToBool(out.IsTruncated), out.NextContinuationToken
	}
	o.wantKeys(all, want...)
	if pages != 3 {
		o.Errorf("%d pages, want 3", pages)
	}
}
