package job

import (
	"regexp"
	"strings"
)

// ARN is an Amazon resource name that names region and account.
type ARN struct {
	Partition, Service, Region, Account string
	Resource                            string // all behind the account
}

var (
	partitionForm = regexp.MustCompile(`^aws(-[a-z]+)*$`)
	regionForm    = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$`)
	accountForm   = regexp.MustCompile(`^[0-9]{12}$`)
)

// ParseARN takes an ARN apart. The second value is false for what is none, or
// lacks region or account, as those of buckets and roles do.
func ParseARN(text string) (ARN, bool) {
	p := strings.SplitN(text, ":", 6)
	if len(p) != 6 || p[0] != "arn" || p[5] == "" || !partitionForm.MatchString(p[1]) || p[2] == "" || !regionForm.MatchString(p[3]) || !accountForm.MatchString(p[4]) {
		return ARN{}, false
	}
	return ARN{Partition: p[1], Service: p[2], Region: p[3], Account: p[4], Resource: p[5]}, true
}

// Name is the resource behind its kind, such as nightly of "cluster/nightly"
// with kind "cluster/"; false for another kind.
func (a ARN) Name(kind string) (string, bool) { return strings.CutPrefix(a.Resource, kind) }
