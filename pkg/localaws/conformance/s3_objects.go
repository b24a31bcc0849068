package conformance

import (
	"crypto/md5"
	"encoding/hex"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

func s3ObjectCases() []Case {
	return []Case{
		onS3("an object comes back with its bytes, type, metadata and headers", wholeObject),
		onS3("an object may be empty", func(o objects) {
			o.put("empty", "")
			if out := o.get("empty"); out.body != "" || aws.ToInt64(out.ContentLength) != 0 {
				o.Errorf("it holds %q, length %d", out.body, aws.ToInt64(out.ContentLength))
			}
		}),
		onS3("an entity tag is the MD5 of the bytes, in quotes", func(o objects) {
			sum := md5.Sum([]byte("content"))
			want := `"` + hex.EncodeToString(sum[:]) + `"`
			if got := o.put("tag", "content"); got != want {
				o.Errorf("the put answers %s, want %s", got, want)
			}
			if got := aws.ToString(o.get("tag").ETag); got != want {
				o.Errorf("the get answers %s, want %s", got, want)
			}
		}),
		onS3("a put replaces the whole object", func(o objects) {
			if _, err := o.putOn("one", "long content", func(in *s3.PutObjectInput) { in.Metadata = map[string]string{"old": "1"} }); err != nil {
				o.Fatal(err)
			}
			o.put("one", "short")
			if out := o.get("one"); out.body != "short" || len(out.Metadata) != 0 {
				o.Errorf("it holds %q with metadata %v", out.body, out.Metadata)
			}
		}),
		onS3("a head tells what a get would, without the bytes", headLikeGet),
		onS3("a deleted object is gone, and deleting it again is no error", func(o objects) {
			o.put("gone", "x")
			for range 2 {
				if err := o.delete("gone", nil); err != nil {
					o.Fatal(err)
				}
			}
			o.holds("gone", "")
			_, err := o.head("gone")
			o.refused(err, 404, "NotFound")
		}),
		onS3("keys are kept as they are", func(o objects) {
			for _, key := range []string{"a/b/c", "a b", "a+b", "ä/€/世界", "a%2Fb", "a?b=c&d", "a#b", "/a", "a//b", "a/", "(1)!*'~"} {
				o.put(key, "at "+key)
				o.holds(key, "at "+key)
			}
		}),
		onS3("a large object comes back whole", func(o objects) {
			content := strings.Repeat("0123456789abcdef", 5<<16) // 5 MiB
			o.put("large", content)
			if got := o.get("large").body; got != content {
				o.Errorf("%d bytes came back, not the %d sent", len(got), len(content))
			}
		}),
	}
}

func wholeObject(o objects) {
	before := time.Now().Add(-time.Second).Truncate(time.Second)
	_, err := o.putOn("whole", `{"n":1}`, func(in *s3.PutObjectInput) {
		in.ContentType, in.CacheControl = aws.String("application/json"), aws.String("no-store")
		in.ContentDisposition, in.ContentEncoding = aws.String(`attachment; filename="a.json"`), aws.String("identity")
		in.Metadata = map[string]string{"run": "7", "Owner-Id": "Ada L."}
	})
	if err != nil {
		o.Fatal(err)
	}
	out := o.get("whole")
	if out.body != `{"n":1}` || aws.ToInt64(out.ContentLength) != 7 {
		o.Errorf("it holds %q, length %d", out.body, aws.ToInt64(out.ContentLength))
	}
	for name, row := range map[string]struct {
		got  *string
		want string
	}{
		"type":        {out.ContentType, "application/json"},
		"cache":       {out.CacheControl, "no-store"},
		"disposition": {out.ContentDisposition, `attachment; filename="a.json"`},
		"encoding":    {out.ContentEncoding, "identity"},
	} {
		if aws.ToString(row.got) != row.want {
			o.Errorf("%s is %q, want %q", name, aws.ToString(row.got), row.want)
		}
	}
	if !maps.Equal(out.Metadata, map[string]string{"run": "7", "owner-id": "Ada L."}) {
		o.Errorf("metadata is %v", out.Metadata)
	}
	if at := aws.ToTime(out.LastModified); at.Before(before) || at.After(time.Now().Add(time.Second)) {
		o.Errorf("last modified %v, not around now", at)
	}
}

func headLikeGet(o objects) {
	if _, err := o.putOn("head", "content", func(in *s3.PutObjectInput) {
		in.ContentType, in.Metadata = aws.String("text/plain"), map[string]string{"run": "7"}
	}); err != nil {
		o.Fatal(err)
	}
	get := o.get("head")
	head, err := o.head("head")
	if err != nil {
		o.Fatal(err)
	}
	if aws.ToString(head.ETag) != aws.ToString(get.ETag) || aws.ToInt64(head.ContentLength) != 7 || aws.ToString(head.ContentType) != "text/plain" ||
		!maps.Equal(head.Metadata, get.Metadata) || !aws.ToTime(head.LastModified).Equal(aws.ToTime(get.LastModified)) {
		o.Errorf("head answers %+v, get %+v", head, get.GetObjectOutput)
	}
}
