package s3

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const (
	checksumPrefix = "X-Amz-Checksum-"
	// untold is the algorithm that S3 chooses when the caller does not.
	untold = "Crc64nvme"
)

// algorithms are the checksums that are understood, by the end of their
// canonical header.
var algorithms = map[string]func() hash.Hash{
	"Crc32":  func() hash.Hash { return crc32.NewIEEE() },
	"Crc32c": func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	untold:   func() hash.Hash { return crc64.New(nvme) },
	"Sha1":   sha1.New,
	"Sha256": sha256.New,
	"Sha512": sha512.New,
}

// nvme has the polynomial of the NVM Express standard, reflected.
var nvme = crc64.MakeTable(0x9a6c9329ac4bc9b5)

// verify compares the content with the one checksum that came along, before it
// or behind it, and returns what is to be kept: that, or S3's own choice.
func verify(header, trailer http.Header, content []byte) (algorithm, checksum string, err error) {
	claims := claimed(header)
	for _, name := range header.Values("X-Amz-Trailer") {
		name = http.CanonicalHeaderKey(strings.TrimSpace(name))
		if trailer.Get(name) == "" {
			return "", "", malformedTrailer()
		}
	}
	maps.Copy(claims, claimed(trailer))
	if len(claims) > 1 {
		return "", "", invalidRequest("Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.")
	}
	for name, value := range claims {
		return compare(name, value, content)
	}
	if header.Get("X-Amz-Sdk-Checksum-Algorithm") != "" {
		return "", "", invalidRequest("x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.")
	}
	return untold, sum(untold, content), nil
}

// claimed are the checksums among headers, by algorithm.
func claimed(header http.Header) map[string]string {
	claims := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if algorithm, found := strings.CutPrefix(name, checksumPrefix); found {
			claims[algorithm] = header.Get(name)
		}
	}
	return claims
}

func compare(algorithm, value string, content []byte) (string, string, error) {
	header := strings.ToLower(checksumPrefix + algorithm)
	fresh, known := algorithms[algorithm]
	if !known {
		return "", "", notImplemented("the header " + header)
	}
	raw, err := base64.StdEncoding.DecodeString(value)
	if err != nil || len(raw) != fresh().Size() {
		return "", "", invalidRequest("Value for " + header + " header is invalid.")
	}
	if computed := sum(algorithm, content); computed != value {
		return "", "", badDigest(strings.ToUpper(algorithm))
	}
	return algorithm, value, nil
}

func sum(algorithm string, content []byte) string {
	digest := algorithms[algorithm]()
	_, _ = digest.Write(content) // a hash takes everything
	return base64.StdEncoding.EncodeToString(digest.Sum(nil))
}
