package conformance

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

func ifMatch(tag string) func(*s3.PutObjectInput) {
	return func(in *s3.PutObjectInput) { in.IfMatch = &tag }
}

func ifAbsent(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") }

const otherTag = `"0123456789abcdef0123456789abcdef"`

func s3ConditionCases() []Case {
	return []Case{
		onS3("a put under If-None-Match stores where nothing is", func(o objects) {
			if _, err := o.putOn("new", "first", ifAbsent); err != nil {
				o.Fatal(err)
			}
			_, err := o.putOn("new", "second", ifAbsent)
			o.refused(err, 412, "PreconditionFailed")
			o.holds("new", "first")
		}),
		onS3("a put under If-None-Match stores again what was deleted", func(o objects) {
			o.put("again", "first")
			if err := o.delete("again", nil); err != nil {
				o.Fatal(err)
			}
			if _, err := o.putOn("again", "second", ifAbsent); err != nil {
				o.Fatal(err)
			}
			o.holds("again", "second")
		}),
		onS3("a put under If-Match replaces that object and no other", func(o objects) {
			first := o.put("one", "first")
			if _, err := o.putOn("one", "second", ifMatch(first)); err != nil {
				o.Fatal(err)
			}
			_, err := o.putOn("one", "third", ifMatch(first))
			o.refused(err, 412, "PreconditionFailed")
			o.holds("one", "second")
		}),
		onS3("a put under If-Match takes the entity tag without quotes", func(o objects) {
			if _, err := o.putOn("one", "second", ifMatch(strings.Trim(o.put("one", "first"), `"`))); err != nil {
				o.Fatal(err)
			}
		}),
		onS3("a put under If-Match of an object that is not there is answered NoSuchKey", func(o objects) {
			_, err := o.putOn("none", "x", ifMatch(otherTag))
			o.refused(err, 404, "NoSuchKey")
			o.holds("none", "")
		}),
		onS3("a delete under If-Match takes that object and no other", func(o objects) {
			tag := o.put("one", "content")
			o.refused(o.delete("one", aws.String(otherTag)), 412, "PreconditionFailed")
			o.holds("one", "content")
			if err := o.delete("one", &tag); err != nil {
				o.Fatal(err)
			}
			o.holds("one", "")
		}),
		onS3("a delete under If-Match * takes any object", func(o objects) {
			o.put("one", "content")
			if err := o.delete("one", aws.String("*")); err != nil {
				o.Fatal(err)
			}
			o.holds("one", "")
		}),
		onS3("a delete under If-Match of an object that is not there is answered NoSuchKey", func(o objects) {
			o.refused(o.delete("none", aws.String(otherTag)), 404, "NoSuchKey")
		}),
		onS3("of puts at once under If-None-Match one stores", oneOfManyStores),
	}
}

func oneOfManyStores(o objects) {
	var group sync.WaitGroup
	var stored atomic.Value
	var won atomic.Int32
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		group.Go(func() {
			if _, err := o.putOn("raced", name, ifAbsent); err == nil {
				won.Add(1)
				stored.Store(name)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		o.Fatalf("%d puts were told that they had stored", won.Load())
	}
	o.holds("raced", stored.Load().(string))
}

func s3ReadConditionCases() []Case {
	return []Case{
		onS3("a get under If-Match reads that object and no other", func(o objects) {
			tag := o.put("one", "content")
			if out, err := o.getOn("one", func(in *s3.GetObjectInput) { in.IfMatch = &tag }); err != nil || out.body != "content" {
				o.Errorf("got %q, %v", out.body, err)
			}
			_, err := o.getOn("one", func(in *s3.GetObjectInput) { in.IfMatch = aws.String(otherTag) })
			o.refused(err, 412, "PreconditionFailed")
		}),
		onS3("a get under If-None-Match reads only what is new", func(o objects) {
			tag := o.put("one", "content")
			_, err := o.getOn("one", func(in *s3.GetObjectInput) { in.IfNoneMatch = &tag })
			o.refused(err, 304, "NotModified")
			if out, err := o.getOn("one", func(in *s3.GetObjectInput) { in.IfNoneMatch = aws.String(otherTag) }); err != nil || out.body != "content" {
				o.Errorf("got %q, %v", out.body, err)
			}
		}),
		onS3("a head heeds the same conditions", func(o objects) {
			tag := o.put("one", "content")
			in := &s3.HeadObjectInput{Bucket: &o.bucket, Key: aws.String("one"), IfNoneMatch: &tag}
			_, err := o.client.HeadObject(o.ctx, in)
			o.refused(err, 304, "NotModified")
			in.IfNoneMatch, in.IfMatch = nil, aws.String(otherTag)
			_, err = o.client.HeadObject(o.ctx, in)
			o.refused(err, 412, "PreconditionFailed")
			in.IfMatch = &tag
			if _, err = o.client.HeadObject(o.ctx, in); err != nil {
				o.Error(err)
			}
		}),
	}
}
