package settings_test

import (
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/infra/settings"
)

func TestARepositoryOfECRIsReadOutOfAnImagesReference(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for image, want := range map[string]string{
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com/belfry-worker:1.2.3":         "arn:aws:ecr:eu-west-1:123456789012:repository/belfry-worker",
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/belfry-worker" + digest: "arn:aws:ecr:eu-west-1:123456789012:repository/team/belfry-worker",
		"123456789012.dkr.ecr.us-east-2.amazonaws.com/w:1" + digest:                "arn:aws:ecr:us-east-2:123456789012:repository/w",
		"123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/belfry-worker:1":         "arn:aws-cn:ecr:cn-north-1:123456789012:repository/belfry-worker",
		"123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com/belfry-worker:1":    "arn:aws-us-gov:ecr:us-gov-west-1:123456789012:repository/belfry-worker",
		"123456789012.dkr-ecr.eu-west-1.on.aws/belfry-worker:1":                    "arn:aws:ecr:eu-west-1:123456789012:repository/belfry-worker",
		"ghcr.io/acme/belfry-worker:1":                                             "",
		"ecr.example.com/belfry:1":                                                 "",
		"asset":                                                                    "",
	} {
		got := ""
		if repository, is := settings.ECR(image); is {
			got = repository.ARN()
		}
		if got != want {
			t.Errorf("%s is in %q, want %q", image, got, want)
		}
	}
}

func TestOnlyWhatCanBePulledIsAnImage(t *testing.T) {
	for image, right := range map[string]bool{
		"asset": true, "ghcr.io/acme/worker": true, "ghcr.io/acme/worker:v1.0_a": true, "localhost:5000/worker:1": true, "acme/worker:1": true,
		"registry.example.com:443/a/b/c__d:1@sha256:" + strings.Repeat("0a", 32): true,
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com/worker":                    true,
		"": false, "x y": false, "worker:": false, "Worker:1": false, "https://ghcr.io/acme/worker": false, "ghcr.io/:1": false, "ghcr.io/acme/": false,
		"ghcr.io/acme/worker@sha256:12": false, "ghcr.io/acme/worker:1:2": false,
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com/":           false, // no repository
		"123456789012.dkr.ecr.amazonaws.com/worker:1":             false, // no region
		"123456789012.dkr.ecr.eu-west-1.example.com/worker:1":     false,
		"123456789012.dkr.ecr.cn-north-1.amazonaws.com/worker:1":  false, // China's end in .cn
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com.cn/worker:": false,
	} {
		_, _, err := read("workers: {image: \""+image+"\"}", nothing)
		if (err == nil) != right {
			t.Errorf("%q: refused with %v, want it to be taken: %v", image, err, right)
		}
		if err != nil && !strings.Contains(err.Error(), "write ") {
			t.Errorf("%q: %v does not say what to do", image, err)
		}
	}
}
