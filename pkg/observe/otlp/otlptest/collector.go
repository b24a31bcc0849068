// Package otlptest is a collector for tests: it takes spans as a real one does,
// on a socket or in memory, and answers questions about them.
package otlptest

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Link is what a span says of another one.
type Link struct {
	Trace, Span string
	Why         string // belfry.link
}

// Span is one span that arrived.
type Span struct {
	Name, Trace, ID, Parent string
	Kind                    string
	Failed                  bool
	Status                  string
	About                   map[string]string
	Links                   []Link
	Start, End              time.Time
	Resource                map[string]string
}

// Collector keeps what arrives. The zero value is ready; it is safe for
// concurrent use.
type Collector struct {
	mu    sync.Mutex
	spans []Span
	raw   [][]byte
	asked []http.Header
}

// ServeHTTP takes a batch.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := c.take(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// RoundTrip takes a batch without a socket.
func (c *Collector) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w.Result(), nil
}

func (c *Collector) take(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return err
		}
		if body, err = io.ReadAll(unzipped); err != nil {
			return err
		}
	}
	if got := r.Header.Get("Content-Type"); got != "application/x-protobuf" || r.Method != http.MethodPost {
		return fmt.Errorf("%s with %s is no batch of spans", r.Method, got)
	}
	var request spans.TracesData
	if err := proto.Unmarshal(body, &request); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw, c.asked = append(c.raw, body), append(c.asked, r.Header.Clone())
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, read(s, resource.Resource.GetAttributes()))
			}
		}
	}
	return nil
}

func read(s *spans.Span, resource []*common.KeyValue) Span {
	got := Span{Name: s.Name, Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
		Kind: strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"), Failed: s.Status.GetCode() == spans.Status_STATUS_CODE_ERROR, Status: s.Status.GetMessage(),
		About: attributes(s.Attributes), Resource: attributes(resource),
		Start: time.Unix(0, int64(s.StartTimeUnixNano)).UTC(), End: time.Unix(0, int64(s.EndTimeUnixNano)).UTC()}
	for _, l := range s.Links {
		got.Links = append(got.Links, Link{Trace: hex.EncodeToString(l.TraceId), Span: hex.EncodeToString(l.SpanId), Why: attributes(l.Attributes)["belfry.link"]})
	}
	return got
}

func attributes(all []*common.KeyValue) map[string]string {
	read := map[string]string{}
	for _, a := range all {
		switch v := a.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			read[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			read[a.Key] = fmt.Sprint(v.IntValue)
		case *common.AnyValue_BoolValue:
			read[a.Key] = fmt.Sprint(v.BoolValue)
		default:
			read[a.Key] = fmt.Sprint(v)
		}
	}
	return read
}

// Spans are those that arrived, by their start.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.spans)
	slices.SortStableFunc(all, func(a, b Span) int { return a.Start.Compare(b.Start) })
	return all
}

// Named are the spans of a name, by their start.
func (c *Collector) Named(name string) []Span {
	return slices.DeleteFunc(c.Spans(), func(s Span) bool { return s.Name != name })
}

// Under are the names of the spans right below one, sorted.
func (c *Collector) Under(above Span) []string {
	var names []string
	for _, s := range c.Spans() {
		if s.Trace == above.Trace && s.Parent == above.ID {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Asked are the headers of the requests.
func (c *Collector) Asked() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// Holds tells whether any of the bytes that arrived contain text.
func (c *Collector) Holds(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.raw, func(body []byte) bool { return bytes.Contains(body, []byte(text)) })
}

// Show logs all spans, for a test that fails.
func (c *Collector) Show(t *testing.T) {
	t.Helper()
	for _, s := range c.Spans() {
		t.Logf("%s %s < %s  %-20s %-8s failed=%v %s  %s + %s %v links %v", s.Trace, s.ID, s.Parent, s.Name, s.Kind, s.Failed, s.Status, s.Start.Format("15:04:05.000"),
			s.End.Sub(s.Start), slices.Sorted(maps.Keys(s.About)), s.Links)
	}
}
