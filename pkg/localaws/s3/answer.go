package s3

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// answer is what goes back for a call that was carried out.
type answer struct {
	status int
	header map[string]string
	body   []byte
	length int // of the body, also where HEAD has it left out
}

// recipient is who waits for the answer to one request.
type recipient struct {
	writer  http.ResponseWriter
	request *http.Request
	n       uint64 // the request's ordinal: a counter keeps simulated runs the same
}

func (to recipient) requestID() string { return fmt.Sprintf("%016X", to.n) }

func (to recipient) hostID() string { return "local-" + to.requestID() }

func (to recipient) send(a *answer) {
	header := to.writer.Header()
	header.Set("X-Amz-Request-Id", to.requestID())
	header.Set("X-Amz-Id-2", to.hostID())
	header.Set("Server", "AmazonS3")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	for name, value := range a.header {
		header.Set(name, value)
	}
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		header.Set("Content-Length", strconv.Itoa(a.length))
	}
	to.writer.WriteHeader(a.status)
	if len(a.body) > 0 {
		// The caller may have hung up; there is nobody left to tell.
		_, _ = to.writer.Write(a.body)
	}
}

// refuse writes the fault as the service does. An answer to HEAD, and one that
// says that nothing has changed, has no body.
func (to recipient) refuse(err error) {
	var f *fault
	if !errors.As(err, &f) {
		f = &fault{status: http.StatusInternalServerError, code: "InternalError", message: err.Error()}
	}
	out := &answer{status: f.status, header: f.header}
	if to.request.Method != http.MethodHead && f.status != http.StatusNotModified {
		out.header = map[string]string{"Content-Type": "application/xml"}
		for name, value := range f.header {
			out.header[name] = value
		}
		out.body = f.document(to.requestID(), to.hostID())
		out.length = len(out.body)
	}
	to.send(out)
}

// document is the fault as XML.
func (f *fault) document(requestID, hostID string) []byte {
	members := append([]member{{"Code", f.code}, {"Message", f.message}}, f.members...)
	members = append(members, member{"RequestId", requestID}, member{"HostId", hostID})
	var out bytes.Buffer
	out.WriteString(xml.Header + "<Error>")
	for _, m := range members {
		out.WriteString("<" + m.name + ">")
		_ = xml.EscapeText(&out, []byte(m.value)) // a buffer takes everything
		out.WriteString("</" + m.name + ">")
	}
	out.WriteString("</Error>")
	return out.Bytes()
}
