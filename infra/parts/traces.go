package parts

import (
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/settings"
)

// tellTraces adds OpenTelemetry's variables, where traces are wanted.
func (i Installation) tellTraces(told map[string]*string) {
	t := i.Settings.Traces
	switch t.Endpoint {
	case "":
		return
	case settings.XRay:
		told["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = jsii.String("https://xray." + *awscdk.Aws_REGION() + "." + *awscdk.Aws_URL_SUFFIX() + "/v1/traces")
	default:
		told["OTEL_EXPORTER_OTLP_ENDPOINT"] = &t.Endpoint
	}
	told["OTEL_TRACES_SAMPLER"] = jsii.String("traceidratio")
	told["OTEL_TRACES_SAMPLER_ARG"] = jsii.String(strconv.FormatFloat(float64(t.Percent)/100, 'f', -1, 64))
}

// grantTraces lets a role send spans to X-Ray, where they go there: through the
// endpoint that takes OTLP, and as segments.
func (i Installation) grantTraces(role awsiam.IGrantable) {
	if i.Settings.Traces.Endpoint == settings.XRay {
		grant(role, "xray:", []string{"PutSpans", "PutSpansForIndexing", "PutTraceSegments"}, jsii.String("*"))
	}
}
