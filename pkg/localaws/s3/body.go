package s3

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// payload is a body that has arrived as it was sent.
type payload struct {
	content   []byte
	algorithm string // canonical, as in the name of its header, such as "Crc32"
	checksum  string // base64
}

// read takes the body out of its wrapping and compares it with everything that
// was said about it.
func (s *Service) read(r *request) (payload, error) {
	content, trailer, err := s.readContent(r)
	if err != nil {
		return payload{}, err
	}
	if err := compareDigests(r.Header, content); err != nil {
		return payload{}, err
	}
	algorithm, checksum, err := verify(r.Header, trailer, content)
	if err != nil {
		return payload{}, err
	}
	return payload{content: content, algorithm: algorithm, checksum: checksum}, nil
}

// readContent returns the bytes and, when they came in chunks, what followed
// them.
func (s *Service) readContent(r *request) ([]byte, http.Header, error) {
	length, chunked := r.ContentLength, false
	switch sha := r.Header.Get("X-Amz-Content-Sha256"); sha {
	case "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
		chunked = true
		var err error
		if length, err = strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64); err != nil {
			length = -1
		}
	default:
		if strings.HasPrefix(sha, "STREAMING-") {
			return nil, nil, notImplemented("X-Amz-Content-Sha256: " + sha)
		}
	}
	switch {
	case length < 0:
		return nil, nil, &fault{status: http.StatusLengthRequired, code: "MissingContentLength", message: "You must provide the Content-Length HTTP header."}
	case length > s.options.MaxObject:
		return nil, nil, tooLarge(length, s.options.MaxObject)
	}
	body := io.Reader(r.Body)
	if r.Body == nil {
		body = strings.NewReader("")
	}
	if chunked {
		return readChunks(body, length)
	}
	content := make([]byte, length)
	if n, err := io.ReadFull(body, content); err != nil {
		return nil, nil, incompleteBody(fmt.Sprintf("You did not provide the number of bytes specified by the Content-Length HTTP header: %d of %d came", n, length))
	}
	if n, _ := body.Read(make([]byte, 1)); n > 0 {
		return nil, nil, incompleteBody(fmt.Sprintf("The body is longer than the %d bytes specified by the Content-Length HTTP header", length))
	}
	return content, nil, nil
}

// compareDigests judges the two digests that are older than checksums.
func compareDigests(header http.Header, content []byte) error {
	if claimed := header.Get("Content-Md5"); claimed != "" {
		digest, err := base64.StdEncoding.DecodeString(claimed)
		if err != nil || len(digest) != md5.Size {
			return &fault{status: http.StatusBadRequest, code: "InvalidDigest", message: "The Content-MD5 you specified was invalid."}
		}
		if md5.Sum(content) != [md5.Size]byte(digest) {
			return badDigest("Content-MD5")
		}
	}
	claimed := header.Get("X-Amz-Content-Sha256")
	if claimed == "" || claimed == "UNSIGNED-PAYLOAD" || strings.HasPrefix(claimed, "STREAMING-") {
		return nil
	}
	digest, err := hex.DecodeString(claimed)
	if err != nil || len(digest) != sha256.Size {
		return invalidArgument("x-amz-content-sha256", claimed, "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a streaming value or a valid sha256 value.")
	}
	if sha256.Sum256(content) != [sha256.Size]byte(digest) {
		return &fault{status: http.StatusBadRequest, code: "XAmzContentSHA256Mismatch",
			message: "The provided 'x-amz-content-sha256' header does not match what was computed."}
	}
	return nil
}

func badDigest(what string) *fault {
	return &fault{status: http.StatusBadRequest, code: "BadDigest", message: "The " + what + " you specified did not match what we received."}
}

// cut tells whether reading ended before it should have.
func cut(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
