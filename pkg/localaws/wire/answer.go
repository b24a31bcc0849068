package wire

import (
	"encoding/json"
	"errors"
	"hash/crc32"
	"maps"
	"net/http"
	"strconv"
)

// coral is the namespace of faults that the protocol itself raises.
const coral = "com.amazon.coral.service"

// answer frames what goes back for one request.
type answer struct {
	writer    http.ResponseWriter
	requestID string
	date      string
	checksum  bool
}

func (a answer) write(status int, body []byte) {
	header := a.writer.Header()
	header.Set("X-Amzn-Requestid", a.requestID)
	header.Set("Date", a.date)
	header.Set("Content-Type", "application/x-amz-json-1.0")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if a.checksum {
		header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	}
	a.writer.WriteHeader(status)
	// The caller may have hung up; there is nobody left to tell.
	_, _ = a.writer.Write(body)
}

func (a answer) fault(err error) {
	var fault *Fault
	if !errors.As(err, &fault) {
		fault = &Fault{Status: http.StatusInternalServerError, Code: "InternalServerError", Prefix: coral, Message: err.Error()}
	}
	body, err := json.Marshal(fault.members())
	if err != nil {
		fault = &Fault{
			Status: http.StatusInternalServerError, Code: "InternalServerError", Prefix: coral,
			Message: "the fault " + fault.Code + " could not be written: " + err.Error(),
		}
		body, _ = json.Marshal(fault.members())
	}
	if fault.Query != "" {
		a.writer.Header().Set("X-Amzn-Query-Error", fault.Query)
	}
	a.write(fault.Status, body)
}

// members are the JSON members of the fault's shape.
func (f *Fault) members() map[string]any {
	members := maps.Clone(f.Extra)
	if members == nil {
		members = make(map[string]any, 2)
	}
	name := f.Code
	if f.Prefix != "" {
		name = f.Prefix + "#" + f.Code
	}
	members["__type"] = name
	members[f.messageMember()] = f.Message
	return members
}

// messageMember is "message", except in the shapes that DynamoDB's model
// spells with a capital letter; SDKs read only the spelling of the model.
func (f *Fault) messageMember() string {
	switch f.Code {
	case "TransactionCanceledException", "TransactionInProgressException", "IdempotentParameterMismatchException":
		return "Message"
	}
	return "message"
}
