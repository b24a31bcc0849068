package stacks_test

import (
	"strings"
	"testing"
)

func TestTheAPIAsksWhoIsCalling(t *testing.T) {
	for file, want := range map[string]string{"profile: small": "AWS_IAM",
		"profile: small\napi: {authorizer: jwt, jwt_issuer: \"https://id.example.com/\", jwt_audience: [belfry]}": "JWT"} {
		t.Run(want, func(t *testing.T) {
			i := installed(t, file)
			for _, route := range i.of(t, "AWS::ApiGatewayV2::Route") {
				route.expect(t, map[string]string{"RouteKey": "$default", "AuthorizationType": want})
			}
			if want == "JWT" {
				i.of(t, "AWS::ApiGatewayV2::Authorizer")[0].expect(t, map[string]string{"AuthorizerType": "JWT",
					"JwtConfiguration.Issuer": "https://id.example.com/", "JwtConfiguration.Audience.0": "belfry"})
			}
		})
	}
}

func TestTheAPIIsThrottledAndLogged(t *testing.T) {
	i := installed(t, "profile: large")
	stage := i.of(t, "AWS::ApiGatewayV2::Stage")[0]
	stage.expect(t, map[string]string{"StageName": "$default", "AutoDeploy": "true", "DefaultRouteSettings.ThrottlingRateLimit": "1000",
		"DefaultRouteSettings.ThrottlingBurstLimit": "2000"})
	log := i.named(t, "AWS::Logs::LogGroup", "LogGroupName", "/belfry/belfry-api-access")
	if got := stage.get("AccessLogSettings.DestinationArn.Fn::GetAtt.0"); got != log.ID {
		t.Errorf("the access log goes to %q", got)
	}
	for _, word := range []string{"$context.requestId", "$context.status", "$context.identity.userArn"} {
		if line := stage.get("AccessLogSettings.Format"); !strings.Contains(line, word) {
			t.Errorf("%s is not in the access log's line %s", word, line)
		}
	}
	i.of(t, "AWS::ApiGatewayV2::Integration")[0].expect(t, map[string]string{"PayloadFormatVersion": "2.0", "IntegrationType": "AWS_PROXY"})
}

func TestTheAPICanHaveADomainOfItsOwn(t *testing.T) {
	const certificate = "arn:aws:acm:eu-central-1:111122223333:certificate/1234abcd-12ab-34cd-56ef-1234567890ab"
	file := "profile: small\napi: {domain: jobs.example.com, certificate_arn: \"" + certificate + "\", hosted_zone_id: Z0123, hosted_zone_name: example.com}"
	i := installed(t, file)
	i.of(t, "AWS::ApiGatewayV2::DomainName")[0].expect(t, map[string]string{"DomainName": "jobs.example.com", "DomainNameConfigurations.0.CertificateArn": certificate})
	mapping := i.of(t, "AWS::ApiGatewayV2::ApiMapping")[0]
	mapping.expect(t, map[string]string{"Stage": "$default"})
	if stage := i.of(t, "AWS::ApiGatewayV2::Stage")[0]; !strings.Contains(text(mapping.After), stage.ID) {
		t.Errorf("the mapping comes after %v, not after its stage", mapping.After)
	}
	for _, r := range i["api"].Resources {
		if strings.Contains(r.ID, "undefined") {
			t.Errorf("a resource is named after what is not there: %s", r.ID)
		}
	}
	i.of(t, "AWS::Route53::RecordSet")[0].expect(t, map[string]string{"Name": "jobs.example.com.", "Type": "A", "HostedZoneId": "Z0123"})
	i.of(t, "AWS::ApiGatewayV2::Api")[0].expect(t, map[string]string{"DisableExecuteApiEndpoint": "true"})
	if got := text(at(i["api"].Raw, "Outputs.Url.Value")); got != "https://jobs.example.com" {
		t.Errorf("the API's address is told as %s", got)
	}
}
