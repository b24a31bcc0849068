//go:build stack

package localstack

import (
	"context"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/observe/otlp/otlptest"
)

// newCollector takes the spans of the deployed functions, where ./stack told
// them to send those.
func newCollector(t *testing.T) *otlptest.Collector {
	t.Helper()
	listener, err := net.Listen("tcp", told(t, "BELFRY_STACK_COLLECTOR"))
	if err != nil {
		t.Fatal(err)
	}
	c := &otlptest.Collector{}
	server := &http.Server{Handler: c, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return c
}

// traced looks for the spans of an execution that was run by hand and died at its
// second attempt: the API's function made it, a work function ran it.
func (w town) traced(ctx context.Context, spans *otlptest.Collector, id string) {
	w.Helper()
	of := func(name string) []otlptest.Span {
		return slices.DeleteFunc(spans.Named(name), func(s otlptest.Span) bool { return s.About["belfry.execution_id"] != id })
	}
	w.until(ctx, "the spans of "+id+" arrive", func() bool { return len(of("belfry.attempt")) >= 2 && len(of("belfry.materialise")) >= 1 })
	made, attempts := of("belfry.materialise")[0], of("belfry.attempt")
	for _, s := range append([]otlptest.Span{made}, attempts...) {
		w.Logf("%s %s %-18s %-28s %s", s.Trace, s.ID, s.Name, s.Resource["service.name"], s.End.Sub(s.Start))
	}
	first, second := attempts[0], attempts[1]
	if len(attempts) != 2 || first.Trace != made.Trace || first.Parent != made.ID || first.About["belfry.status"] != "RETRY_WAIT" || second.About["belfry.status"] != "DEAD" {
		w.Errorf("the attempts are told as %+v", attempts)
	}
	linked := func(to otlptest.Span) bool {
		return slices.ContainsFunc(second.Links, func(l otlptest.Link) bool { return l.Trace == to.Trace && l.Span == to.ID })
	}
	if second.Trace == first.Trace || !linked(first) || !linked(made) {
		w.Errorf("the second attempt does not lead back to the first and to where the execution came from: %+v", second.Links)
	}
	if made.Resource["service.name"] == first.Resource["service.name"] || first.Resource["service.name"] != second.Resource["service.name"] {
		w.Errorf("made by %s, run by %s and %s", made.Resource["service.name"], first.Resource["service.name"], second.Resource["service.name"])
	}
}
