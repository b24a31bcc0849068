package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client posts spans. It sends a batch once: what a collector does not take now
// is not worth the queue filling up behind it.
type client struct {
	endpoint *url.URL
	headers  map[string]string
	gzip     bool
	http     http.RoundTripper
}

// Start implements the exporter's client.
func (c *client) Start(context.Context) error { return nil }

// Stop implements the exporter's client.
func (c *client) Stop(context.Context) error { return nil }

// mostAnswer bounds what is read of an answer.
const mostAnswer = 64 << 10

// UploadTraces implements the exporter's client. The bytes of TracesData are
// those of the protocol's request: both hold the list as their first field.
func (c *client) UploadTraces(ctx context.Context, all []*spans.ResourceSpans) error {
	body, err := proto.Marshal(&spans.TracesData{ResourceSpans: all})
	if err != nil {
		return fmt.Errorf("encode the spans: %w", err)
	}
	if c.gzip {
		body = zipped(body)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("User-Agent", "Belfry")
	if c.gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	response, err := c.http.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, mostAnswer)) // so that the connection can be used again
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("the collector answers %s", response.Status)
	}
	return nil
}

func zipped(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
