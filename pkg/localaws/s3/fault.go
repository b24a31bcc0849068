package s3

import (
	"fmt"
	"net/http"
	"strconv"
)

// fault is an error as the service would write it on the wire.
type fault struct {
	status  int
	code    string
	message string
	members []member          // further elements of the document, in order
	header  map[string]string // headers that go along
}

type member struct{ name, value string }

// Error renders code and message.
func (f *fault) Error() string { return f.code + ": " + f.message }

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func notImplemented(what string) *fault {
	return &fault{status: http.StatusNotImplemented, code: "NotImplemented", message: "the local backend does not implement " + what}
}

func noSuchBucket(name string) *fault {
	return &fault{status: http.StatusNotFound, code: "NoSuchBucket", message: "The specified bucket does not exist", members: []member{{"BucketName", name}}}
}

func noSuchKey(key string) *fault {
	return &fault{status: http.StatusNotFound, code: "NoSuchKey", message: "The specified key does not exist.", members: []member{{"Key", key}}}
}

func preconditionFailed(condition string) *fault {
	return &fault{status: http.StatusPreconditionFailed, code: "PreconditionFailed",
		message: "At least one of the pre-conditions you specified did not hold", members: []member{{"Condition", condition}}}
}

func invalidArgument(name, value, message string) *fault {
	return &fault{status: http.StatusBadRequest, code: "InvalidArgument", message: message,
		members: []member{{"ArgumentName", name}, {"ArgumentValue", value}}}
}

func invalidRequest(message string) *fault {
	return &fault{status: http.StatusBadRequest, code: "InvalidRequest", message: message}
}

func tooLarge(proposed, most int64) *fault {
	return &fault{status: http.StatusBadRequest, code: "EntityTooLarge",
		message: fmt.Sprintf("Your proposed upload exceeds the maximum allowed object size; the local backend stores objects of up to %d bytes", most),
		members: []member{{"ProposedSize", decimal(proposed)}, {"MaxSizeAllowed", decimal(most)}}}
}

func incompleteBody(message string) *fault {
	return &fault{status: http.StatusBadRequest, code: "IncompleteBody", message: message}
}
