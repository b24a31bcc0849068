package otlp

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Settings are what the standard variables say. The zero value is off.
type Settings struct {
	Endpoint *url.URL // where spans are posted; nil = nowhere
	Headers  map[string]string
	Timeout  time.Duration // of one request
	Gzip     bool
	Sampler  sdk.Sampler
	Service  string // OTEL_SERVICE_NAME; empty = the caller's
	About    map[string]string
}

const (
	defaultTimeout = 10 * time.Second
	longestTimeout = 5 * time.Minute
)

// ReadSettings reads the variables of the OpenTelemetry specification through
// lookup, as far as they are about traces. Without an endpoint everything is
// off. The error is a *job.Error that names variable, value and bound.
func ReadSettings(lookup func(string) (string, bool)) (Settings, error) {
	get := func(names ...string) (string, string) {
		for _, n := range names {
			if v, _ := lookup(n); strings.TrimSpace(v) != "" {
				return strings.TrimSpace(v), n
			}
		}
		return "", names[0]
	}
	if v, _ := get("OTEL_SDK_DISABLED"); strings.EqualFold(v, "true") {
		return Settings{}, nil
	}
	switch v, name := get("OTEL_TRACES_EXPORTER"); v {
	case "none":
		return Settings{}, nil
	case "", "otlp":
	default:
		return Settings{}, refuse(name, v, "otlp or none")
	}
	var s Settings
	if err := s.readEndpoint(get); err != nil || s.Endpoint == nil {
		return Settings{}, err
	}
	for _, read := range []func(func(...string) (string, string)) error{s.readProtocol, s.readHeaders, s.readTimeout, s.readSampler, s.readAbout} {
		if err := read(get); err != nil {
			return Settings{}, err
		}
	}
	return s, nil
}

type getter = func(names ...string) (value, name string)

func refuse(name, value, bound string) error {
	return &job.Error{Code: job.CodeInvalid, Field: name, Value: job.Shorten(value), Bound: bound, Message: "\"" + job.Shorten(value) + "\" cannot be used",
		Fix: "change the variable, or leave it out"}
}

// readEndpoint takes the endpoint of traces as it is, and completes the one of
// all signals.
func (s *Settings) readEndpoint(get getter) error {
	v, name := get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return refuse(name, v, "an absolute http or https URL")
	}
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath("v1", "traces")
	}
	s.Endpoint = u
	return nil
}

func (s *Settings) readProtocol(get getter) error {
	if v, name := get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); v != "" && v != "http/protobuf" {
		return refuse(name, v, "http/protobuf")
	}
	switch v, name := get("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"); v {
	case "", "none":
	case "gzip":
		s.Gzip = true
	default:
		return refuse(name, v, "gzip or none")
	}
	return nil
}

// readHeaders never repeats a value: headers carry keys.
func (s *Settings) readHeaders(get getter) error {
	v, name := get("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
	pairs, err := readPairs(v)
	if err != nil {
		return refuse(name, fmt.Sprintf("(%d characters, not shown)", len(v)), "name=value, joined by commas, percent-encoded")
	}
	s.Headers = pairs
	return nil
}

func readPairs(text string) (map[string]string, error) {
	pairs := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, found := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || name == "" || err != nil || strings.ContainsAny(name+plain, "\r\n") {
			return nil, fmt.Errorf("no pair of name and value")
		}
		pairs[name] = plain
	}
	return pairs, nil
}

func (s *Settings) readTimeout(get getter) error {
	s.Timeout = defaultTimeout
	v, name := get("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
	if v == "" {
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > int(longestTimeout/time.Millisecond) {
		return refuse(name, v, "1 to 300000 milliseconds")
	}
	s.Timeout = time.Duration(n) * time.Millisecond
	return nil
}

// readSampler takes "parentbased_" for granted where it matters: a span below
// another one of this process follows it. The top ones are sampled by their
// trace id alone, whatever a header says, so that all that have to do with one
// execution decide alike.
func (s *Settings) readSampler(get getter) error {
	v, name := get("OTEL_TRACES_SAMPLER")
	top := sdk.AlwaysSample()
	switch strings.TrimPrefix(v, "parentbased_") {
	case "", "always_on":
	case "always_off":
		top = sdk.NeverSample()
	case "traceidratio":
		ratio := 1.0
		if arg, argName := get("OTEL_TRACES_SAMPLER_ARG"); arg != "" {
			var err error
			if ratio, err = strconv.ParseFloat(arg, 64); err != nil || ratio < 0 || ratio > 1 || ratio != ratio {
				return refuse(argName, arg, "0 to 1")
			}
		}
		top = sdk.TraceIDRatioBased(ratio)
	default:
		return refuse(name, v, "always_on, always_off, traceidratio, each also with parentbased_ before it")
	}
	s.Sampler = sdk.ParentBased(top, sdk.WithRemoteParentSampled(top), sdk.WithRemoteParentNotSampled(top))
	return nil
}

func (s *Settings) readAbout(get getter) error {
	s.Service, _ = get("OTEL_SERVICE_NAME")
	v, name := get("OTEL_RESOURCE_ATTRIBUTES")
	pairs, err := readPairs(v)
	if err != nil {
		return refuse(name, v, "name=value, joined by commas, percent-encoded")
	}
	if s.Service == "" {
		s.Service = pairs["service.name"]
	}
	delete(pairs, "service.name")
	s.About = pairs
	return nil
}
