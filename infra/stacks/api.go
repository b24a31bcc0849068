package stacks

import (
	"encoding/json"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2authorizers"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/parts"
)

// apiTimeout is a little less than what an HTTP API waits for.
const apiTimeout = 29 * time.Second

// API is the way in for people and programs.
type API struct {
	Stack awscdk.Stack
}

func newAPI(app constructs.Construct, i parts.Installation, d *Data) *API {
	a := &API{Stack: stack(app, i, "api", "Belfry: the HTTP API")}
	d = d.seenFrom(a.Stack, i)
	i.Alarms = d.Alarms
	f := parts.NewFunction(a.Stack, "Api", i, parts.FunctionShape{Folder: "api", Says: "Answers the HTTP API.", MemoryMB: 512, Timeout: apiTimeout, Objects: true}, nil)
	grantAPI(i, f.Role, d)
	api := awsapigatewayv2.NewHttpApi(a.Stack, jsii.String("Http"), &awsapigatewayv2.HttpApiProps{ApiName: jsii.String(i.Name("api")), CreateDefaultStage: jsii.Bool(false),
		Description: jsii.String("The API of the installation " + i.Settings.Prefix + "."), DisableExecuteApiEndpoint: jsii.Bool(i.Settings.API.Domain != "")})
	awsapigatewayv2.NewHttpRoute(a.Stack, jsii.String("Everything"), &awsapigatewayv2.HttpRouteProps{HttpApi: api, RouteKey: awsapigatewayv2.HttpRouteKey_DEFAULT(),
		Authorizer: a.authorizer(i), Integration: awsapigatewayv2integrations.NewHttpLambdaIntegration(jsii.String("Function"), f.Function,
			&awsapigatewayv2integrations.HttpLambdaIntegrationProps{PayloadFormatVersion: awsapigatewayv2.PayloadFormatVersion_VERSION_2_0()})})
	url := a.stage(i, api)
	awscdk.NewCfnOutput(a.Stack, jsii.String("Url"), &awscdk.CfnOutputProps{Value: url, Description: jsii.String("The address of the API, for the command line's --url.")})
	return a
}

func (a *API) authorizer(i parts.Installation) awsapigatewayv2.IHttpRouteAuthorizer {
	s := i.Settings.API
	if s.Authorizer == "jwt" {
		return awsapigatewayv2authorizers.NewHttpJwtAuthorizer(jsii.String("Tokens"), &s.JWTIssuer,
			&awsapigatewayv2authorizers.HttpJwtAuthorizerProps{JwtAudience: jsii.Strings(s.JWTAudience...), AuthorizerName: jsii.String(i.Name("tokens"))})
	}
	return awsapigatewayv2authorizers.NewHttpIamAuthorizer()
}

// stage publishes the API, throttled and logged, and answers its address.
func (a *API) stage(i parts.Installation, api awsapigatewayv2.HttpApi) *string {
	s := i.Settings.API
	props := &awsapigatewayv2.HttpStageProps{HttpApi: api, StageName: jsii.String("$default"), AutoDeploy: jsii.Bool(true), DetailedMetricsEnabled: jsii.Bool(true),
		Throttle: &awsapigatewayv2.ThrottleSettings{RateLimit: jsii.Number(s.Rate), BurstLimit: jsii.Number(s.Burst)}}
	stage := awsapigatewayv2.NewHttpStage(a.Stack, jsii.String("Stage"), props)
	if s.Domain != "" {
		// Not as the stage's own, which would name it after a key that there is none of.
		awsapigatewayv2.NewApiMapping(a.Stack, jsii.String("Mapping"), &awsapigatewayv2.ApiMappingProps{Api: api, Stage: stage, DomainName: a.domain(i)})
	}
	within := constructs.NewConstruct(a.Stack, jsii.String("Access"))
	log := i.NewLogGroup(within, "/belfry/"+i.Name("api-access"))
	stage.Node().DefaultChild().(awsapigatewayv2.CfnStage).SetAccessLogSettings(
		&awsapigatewayv2.CfnStage_AccessLogSettingsProperty{DestinationArn: log.LogGroupArn(), Format: accessLine()})
	if s.Domain != "" {
		return jsii.String("https://" + s.Domain)
	}
	return api.ApiEndpoint()
}

// accessLine says who asked what, and what became of it, in JSON.
func accessLine() *string {
	line, err := json.Marshal(map[string]string{"time": "$context.requestTime", "request": "$context.requestId", "source": "$context.identity.sourceIp",
		"caller": "$context.identity.userArn", "subject": "$context.authorizer.claims.sub", "method": "$context.httpMethod", "path": "$context.path",
		"status": "$context.status", "bytes": "$context.responseLength", "milliseconds": "$context.responseLatency", "error": "$context.error.message",
		"integration": "$context.integrationErrorMessage"})
	if err != nil {
		panic(err) // texts only
	}
	return jsii.String(string(line))
}

func (a *API) domain(i parts.Installation) awsapigatewayv2.DomainName {
	s := i.Settings.API
	domain := awsapigatewayv2.NewDomainName(a.Stack, jsii.String("Domain"), &awsapigatewayv2.DomainNameProps{DomainName: &s.Domain,
		Certificate: awscertificatemanager.Certificate_FromCertificateArn(a.Stack, jsii.String("Certificate"), &s.CertificateARN)})
	if s.HostedZoneID != "" {
		zone := awsroute53.HostedZone_FromHostedZoneAttributes(a.Stack, jsii.String("Zone"),
			&awsroute53.HostedZoneAttributes{HostedZoneId: &s.HostedZoneID, ZoneName: &s.HostedZoneName})
		awsroute53.NewARecord(a.Stack, jsii.String("Record"), &awsroute53.ARecordProps{Zone: zone, RecordName: jsii.String(s.Domain + "."),
			Target: awsroute53.RecordTarget_FromAlias(awsroute53targets.NewApiGatewayv2DomainProperties(domain.RegionalDomainName(), domain.RegionalHostedZoneId()))})
	}
	return domain
}
