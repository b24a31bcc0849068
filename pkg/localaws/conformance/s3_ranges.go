package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

func within(spec string) func(*s3.GetObjectInput) {
	return func(in *s3.GetObjectInput) { in.Range = &spec }
}

func s3RangeCases() []Case {
	return []Case{
		onS3("a range reads its part of the object", func(o objects) {
			o.put("ten", "0123456789")
			for spec, want := range map[string]struct{ body, shown string }{
				"bytes=2-4":  {"234", "bytes 2-4/10"},
				"bytes=0-0":  {"0", "bytes 0-0/10"},
				"bytes=7-":   {"789", "bytes 7-9/10"},
				"bytes=-3":   {"789", "bytes 7-9/10"},
				"bytes=8-99": {"89", "bytes 8-9/10"},
				"bytes=-99":  {"0123456789", "bytes 0-9/10"},
				"bytes=0-":   {"0123456789", "bytes 0-9/10"},
			} {
				out, err := o.getOn("ten", within(spec))
				if err != nil || out.body != want.body || aws.ToString(out.ContentRange) != want.shown || aws.ToInt64(out.ContentLength) != int64(len(want.body)) {
					o.Errorf("%s: got %q, range %q, %v; want %q, %q", spec, out.body, aws.ToString(outRange(out)), err, want.body, want.shown)
				}
			}
		}),
		onS3("a range beyond the object is refused", func(o objects) {
			o.put("ten", "0123456789")
			o.put("empty", "")
			for spec, key := range map[string]string{"bytes=10-": "ten", "bytes=10-12": "ten", "bytes=-0": "ten", "bytes=0-0": "empty"} {
				_, err := o.getOn(key, within(spec))
				o.Log(spec, key)
				o.refused(err, 416, "InvalidRange")
			}
		}),
		onS3("a malformed range is passed over", func(o objects) {
			o.put("ten", "0123456789")
			for _, spec := range []string{"bytes=4-2", "bytes=a-b", "lines=1-2", "bytes"} {
				if out, err := o.getOn("ten", within(spec)); err != nil || out.body != "0123456789" {
					o.Errorf("%s: got %q, %v", spec, out.body, err)
				}
			}
		}),
		onS3("a condition that fails is told before a range that does", func(o objects) {
			o.put("ten", "0123456789")
			_, err := o.getOn("ten", func(in *s3.GetObjectInput) { in.IfMatch, in.Range = aws.String(otherTag), aws.String("bytes=10-") })
			o.refused(err, 412, "PreconditionFailed")
		}),
		onS3("a head of a range tells its length", func(o objects) {
			o.put("ten", "0123456789")
			out, err := o.client.HeadObject(o.ctx, &s3.HeadObjectInput{Bucket: &o.bucket, Key: aws.String("ten"), Range: aws.String("bytes=2-4")})
			if err != nil || aws.ToInt64(out.ContentLength) != 3 {
				o.Errorf("answered %+v, %v", out, err)
			}
		}),
	}
}

func outRange(out got) *string {
	if out.GetObjectOutput == nil {
		return nil
	}
	return out.ContentRange
}
