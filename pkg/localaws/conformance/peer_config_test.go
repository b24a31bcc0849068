package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// peer configures a client of the endpoint. A call is attempted once: a write
// that is repeated because its answer was lost meets itself and looks like a
// fault of the peer.
func peer(endpoint string) aws.Config {
	return aws.Config{
		Region:           "us-east-1",
		Credentials:      credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint:     aws.String(endpoint),
		RetryMaxAttempts: 1,
		// What the SDK's own loader of configurations chooses.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
		HTTPClient:                 wholeAnswers{&http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}},
	}
}

// wholeAnswers reads each answer at once: the peer's small server closes its
// connection behind every answer, and now and then that reached a reader that
// took its time.
type wholeAnswers struct{ client *http.Client }

func (w wholeAnswers) Do(request *http.Request) (*http.Response, error) {
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // read to its end, or failed
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}
