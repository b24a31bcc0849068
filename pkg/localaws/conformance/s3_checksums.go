package conformance

import (
	"crypto/md5"
	"encoding/base64"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func s3ChecksumCases() []Case {
	return []Case{
		onS3("an object keeps the checksum that it came with", func(o objects) {
			for _, algorithm := range []types.ChecksumAlgorithm{"CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"} {
				o.keepsChecksum(algorithm, algorithm)
			}
		}),
		onS3("an object keeps the checksum that the client adds by itself", func(o objects) { o.keepsChecksum("", "CRC32") }),
		onS3("bytes that do not fit their checksum are refused", func(o objects) {
			for name, change := range map[string]func(*s3.PutObjectInput){
				"CRC32":     func(in *s3.PutObjectInput) { in.ChecksumCRC32 = aws.String("AAAAAA==") },
				"CRC32C":    func(in *s3.PutObjectInput) { in.ChecksumCRC32C = aws.String("AAAAAA==") },
				"CRC64NVME": func(in *s3.PutObjectInput) { in.ChecksumCRC64NVME = aws.String("AAAAAAAAAAA=") },
				"SHA1":      func(in *s3.PutObjectInput) { in.ChecksumSHA1 = aws.String("AAAAAAAAAAAAAAAAAAAAAAAAAAA=") },
				"SHA256": func(in *s3.PutObjectInput) {
					in.ChecksumSHA256 = aws.String("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
				},
			} {
				_, err := o.putOn("damaged", "content", change)
				o.Log(name)
				o.refused(err, 400, "BadDigest")
			}
			o.holds("damaged", "")
		}),
		onS3("bytes that do not fit their Content-MD5 are refused", func(o objects) {
			sum := md5.Sum([]byte("content"))
			right, wrong := base64.StdEncoding.EncodeToString(sum[:]), "AAAAAAAAAAAAAAAAAAAAAA=="
			_, err := o.putOn("digest", "content", func(in *s3.PutObjectInput) { in.ContentMD5 = &wrong })
			o.refused(err, 400, "BadDigest")
			_, err = o.putOn("digest", "content", func(in *s3.PutObjectInput) { in.ContentMD5 = aws.String("short") })
			o.refused(err, 400, "InvalidDigest")
			if _, err = o.putOn("digest", "content", func(in *s3.PutObjectInput) { in.ContentMD5 = &right }); err != nil {
				o.Error(err)
			}
		}),
	}
}

// keepsChecksum puts an object under the algorithm and reads the checksum back.
func (o objects) keepsChecksum(asked, kept types.ChecksumAlgorithm) {
	o.Helper()
	put, err := o.putOn("sum", "content", func(in *s3.PutObjectInput) { in.ChecksumAlgorithm = asked })
	if err != nil {
		o.Errorf("%s: %v", asked, err)
		return
	}
	out, err := o.getOn("sum", func(in *s3.GetObjectInput) { in.ChecksumMode = types.ChecksumModeEnabled })
	if err != nil {
		o.Errorf("%s: %v", asked, err)
		return
	}
	sent := map[types.ChecksumAlgorithm]*string{"CRC32": put.ChecksumCRC32, "CRC32C": put.ChecksumCRC32C,
		"CRC64NVME": put.ChecksumCRC64NVME, "SHA1": put.ChecksumSHA1, "SHA256": put.ChecksumSHA256}[kept]
	got := map[types.ChecksumAlgorithm]*string{"CRC32": out.ChecksumCRC32, "CRC32C": out.ChecksumCRC32C,
		"CRC64NVME": out.ChecksumCRC64NVME, "SHA1": out.ChecksumSHA1, "SHA256": out.ChecksumSHA256}[kept]
	if aws.ToString(sent) == "" || aws.ToString(sent) != aws.ToString(got) {
		o.Errorf("asked for %q: the put answers %q, the get %q", asked, aws.ToString(sent), aws.ToString(got))
	}
}
