package settings

import (
	"regexp"
	"strings"
)

// Asset stands for the image that is packed from this repository.
const Asset = "asset"

// Repository is a repository of ECR that an image is in.
type Repository struct {
	Partition, Region, Account, Name string
}

// ARN is what a right to pull is about.
func (r Repository) ARN() string {
	return strings.Join([]string{"arn", r.Partition, "ecr", r.Region, r.Account, "repository/" + r.Name}, ":")
}

// The grammar of references: a registry, a path of lower-case names, and a tag, a
// digest or both.
const (
	registryForm = `(?:localhost|[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+|[a-zA-Z0-9.-]+:[0-9]+|localhost:[0-9]+)/`
	partForm     = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
	pathForm     = partForm + `(?:/` + partForm + `)*`
	endForm      = `(?::[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?`
)

var (
	reference = regexp.MustCompile(`^(?:` + registryForm + `)?` + pathForm + endForm + `$`)
	ecrHost   = regexp.MustCompile(`^[0-9]{12}\.dkr[.-]ecr`)
	ecr       = regexp.MustCompile(`^([0-9]{12})\.dkr[.-]ecr(?:-fips)?\.([a-z]{2,}(?:-[a-z]+)+-[0-9]+)\.(amazonaws\.com(?:\.cn)?|on\.aws|on\.amazonwebservices\.com\.cn)/(` +
		pathForm + `)` + endForm + `$`)
)

// ECR is the repository of an image in ECR; false when the image is elsewhere, or
// is none.
func ECR(image string) (Repository, bool) {
	m := ecr.FindStringSubmatch(image)
	if m == nil {
		return Repository{}, false
	}
	r := Repository{Partition: partition(m[2]), Account: m[1], Region: m[2], Name: m[4]}
	return r, (r.Partition == "aws-cn") == strings.HasSuffix(m[3], ".cn")
}

func partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

func (s Settings) checkImage() error {
	image := s.Workers.Image
	if image == Asset {
		return nil
	}
	const bound = "asset, or a reference such as 111122223333.dkr.ecr.eu-west-1.amazonaws.com/belfry-worker:1.2.3"
	if !reference.MatchString(image) {
		return refusal("workers.image", image, bound, "is no reference of an image: write REGISTRY/REPOSITORY:TAG, or REGISTRY/REPOSITORY@sha256:DIGEST")
	}
	if _, known := ECR(image); ecrHost.MatchString(image) && !known {
		return refusal("workers.image", image, bound, "names no repository of ECR: write ACCOUNT.dkr.ecr.REGION.amazonaws.com/REPOSITORY:TAG (amazonaws.com.cn in China)")
	}
	return nil
}
