package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
)

// PayloadPlace is where a payload lies, or will once the upload was sent.
type PayloadPlace struct {
	PayloadRef string `json:"payload_ref" example:"s3://belfry-data/payloads/default/e3b0c442" doc:"What a job or a run refers to it by"`
	SHA256     string `json:"sha256"`
	Size       int64  `json:"size"`
	Upload     Upload `json:"upload" doc:"The request that stores it"`
}

// Upload is a request to S3 that was signed for whoever sends it.
type Upload struct {
	Method  string            `json:"method" example:"PUT"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers" doc:"To be sent as they are"`
	Until   Time              `json:"until" format:"date-time" doc:"When it is refused"`
}

// PlacePayload gives a payload of that content its place, and the request that
// stores it there.
func (c *Client) PlacePayload(ctx context.Context, sha256 string, size int64) (PayloadPlace, error) {
	var out PayloadPlace
	k := call{method: http.MethodPost, path: []string{"payloads"}, body: map[string]any{"sha256": sha256, "size": size}}
	return out, c.do(ctx, k, &out)
}

// StorePayload stores a payload in the installation's bucket and tells its place. It
// may be repeated: the same content has the same place. send sends what was signed,
// to S3 and without the credentials of this client; nil = http.DefaultClient.
func (c *Client) StorePayload(ctx context.Context, content []byte, send *http.Client) (PayloadPlace, error) {
	sum := sha256.Sum256(content)
	place, err := c.PlacePayload(ctx, hex.EncodeToString(sum[:]), int64(len(content)))
	if err != nil {
		return place, err
	}
	request, err := http.NewRequestWithContext(ctx, place.Upload.Method, place.Upload.URL, bytes.NewReader(content))
	if err != nil {
		return place, fmt.Errorf("read the answer of the API: %w", err)
	}
	for name, value := range place.Upload.Headers {
		request.Header.Set(name, value)
	}
	if send == nil {
		send = http.DefaultClient
	}
	answer, err := send.Do(request)
	if err != nil {
		return place, &Unreachable{URL: request.URL.Scheme + "://" + request.URL.Host, Err: cause(err)}
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 2048)) // the status alone decides
	if answer.StatusCode != http.StatusOK {
		return place, fmt.Errorf("the bucket did not take the payload: it answers %s: %s", answer.Status, text)
	}
	return place, nil
}
