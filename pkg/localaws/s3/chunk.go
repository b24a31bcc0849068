package s3

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxTrailers bounds how many lines may follow the last chunk; SDKs send two.
const maxTrailers = 16

// readChunks undoes the encoding aws-chunked: chunks, each after its length in
// hexadecimal, an empty chunk, and trailers. What stands behind a length (a
// chunk's signature) is passed over as all signatures are.
func readChunks(body io.Reader, length int64) ([]byte, http.Header, error) {
	in := bufio.NewReader(body)
	content := bytes.NewBuffer(make([]byte, 0, length))
	for {
		size, err := chunkSize(in)
		switch {
		case err != nil:
			return nil, nil, err
		case size == 0:
			return finishChunks(in, content.Bytes(), length)
		case size > length-int64(content.Len()):
			return nil, nil, incompleteBody(fmt.Sprintf("The chunks hold more than the %d bytes specified by x-amz-decoded-content-length", length))
		}
		if _, err := io.CopyN(content, in, size); err != nil {
			return nil, nil, incompleteBody("The request body terminated unexpectedly")
		}
		if end, err := line(in); err != nil || end != "" {
			return nil, nil, incompleteBody("A chunk is not followed by the end of its line")
		}
	}
}

func chunkSize(in *bufio.Reader) (int64, error) {
	text, err := line(in)
	if err != nil {
		return 0, incompleteBody("The request body terminated unexpectedly")
	}
	text, _, _ = strings.Cut(text, ";")
	size, err := strconv.ParseInt(text, 16, 64)
	if err != nil || size < 0 {
		return 0, incompleteBody(fmt.Sprintf("%.20q is not the length of a chunk", text))
	}
	return size, nil
}

func finishChunks(in *bufio.Reader, content []byte, length int64) ([]byte, http.Header, error) {
	if int64(len(content)) != length {
		return nil, nil, incompleteBody(fmt.Sprintf("The chunks hold %d of the %d bytes specified by x-amz-decoded-content-length", len(content), length))
	}
	trailer := http.Header{}
	for range maxTrailers {
		text, err := line(in)
		if text == "" && (err == nil || cut(err)) {
			return content, trailer, nil
		}
		name, value, found := strings.Cut(text, ":")
		if err != nil || !found {
			break
		}
		trailer.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return nil, nil, malformedTrailer()
}

func malformedTrailer() *fault {
	return &fault{status: http.StatusBadRequest, code: "MalformedTrailerError",
		message: "The request contained trailing data that was not well-formed or did not conform to our published schema."}
}

// line reads up to the next CRLF and returns what stands before it; at the end
// of the body that and an error.
func line(in *bufio.Reader) (string, error) {
	raw, err := in.ReadSlice('\n')
	text, ended := strings.CutSuffix(string(raw), "\r\n")
	if err == nil && !ended {
		err = errNoLine
	}
	return text, err
}

var errNoLine = errors.New("a line ends without a carriage return")
