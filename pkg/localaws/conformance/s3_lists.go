package conformance

import (
	"net/url"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

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
		onS3("a list tells folders in place of what is in them", folders),
		onS3("a list writes keys as in a URL when asked to", func(o objects) {
			o.put("a b/ä+c", "x")
			out, err := o.client.ListObjectsV2(o.ctx, &s3.ListObjectsV2Input{Bucket: &o.bucket, Prefix: aws.String("a b"), EncodingType: types.EncodingTypeUrl})
			if err != nil {
				o.Fatal(err)
			}
			if key, err := url.QueryUnescape(aws.ToString(out.Contents[0].Key)); err != nil || key != "a b/ä+c" || key == *out.Contents[0].Key || out.EncodingType != "url" {
				o.Errorf("the key is %q, written as %q", aws.ToString(out.Contents[0].Key), out.EncodingType)
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
	if !slices.Equal(keys, want) {
		o.Errorf("keys are %q, want %q", keys, want)
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

func folders(o objects) {
	for _, key := range []string{"a/1", "a/2", "b", "c/d/1", "c/e"} {
		o.put(key, key)
	}
	for prefix, want := range map[string]struct{ keys, folders []string }{
		"":    {[]string{"b"}, []string{"a/", "c/"}},
		"a":   {nil, []string{"a/"}},
		"c/":  {[]string{"c/e"}, []string{"c/d/"}},
		"c/d": {nil, []string{"c/d/"}},
	} {
		out, err := o.client.ListObjectsV2(o.ctx, &s3.ListObjectsV2Input{Bucket: &o.bucket, Prefix: &prefix, Delimiter: aws.String("/")})
		if err != nil {
			o.Fatal(err)
		}
		o.wantKeys(out, want.keys...)
		var folders []string
		for _, one := range out.CommonPrefixes {
			folders = append(folders, aws.ToString(one.Prefix))
		}
		if !slices.Equal(folders, want.folders) || int(aws.ToInt32(out.KeyCount)) != len(want.keys)+len(want.folders) {
			o.Errorf("%q has the folders %q, %d in all; want %q", prefix, folders, aws.ToInt32(out.KeyCount), want.folders)
		}
	}
}
