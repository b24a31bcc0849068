package assemble

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
	"github.com/belfry-scheduler/belfry/pkg/signing"
)

// Traces makes the export that the environment asks for, under the name of the
// service unless the environment gives another; nil, which is off, when it names
// no endpoint. Requests to X-Ray are signed with config's credentials.
func Traces(ctx context.Context, e otlp.Settings, s Settings, service, version string, config aws.Config) (*otlp.Export, error) {
	if e.Endpoint == nil {
		return nil, nil //nolint:nilnil // nil is an export that is off
	}
	s = s.filled()
	var transport http.RoundTripper = http.DefaultTransport.(*http.Transport).Clone()
	if region := signing.RegionOf(e.Endpoint); region != "" && strings.HasPrefix(e.Endpoint.Hostname(), "xray.") {
		transport = &signing.Transport{Service: "xray", Region: region, Credentials: config.Credentials, Now: s.Clock.Now, Under: transport}
	}
	return otlp.Open(ctx, otlp.Options{Settings: e, Service: service, Version: version, HTTP: transport, Clock: s.Clock, Random: randomNumber, Log: s.Log})
}

func randomNumber() uint64 {
	var word [8]byte
	_, _ = rand.Read(word[:]) // never fails: crypto/rand ends the process instead
	return binary.BigEndian.Uint64(word[:])
}
