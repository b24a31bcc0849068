package job

import "regexp"

// NamePattern is what tenant, job, pool, type and handler names look like.
const NamePattern = `[a-z0-9][a-z0-9._-]{0,62}`

var nameRule = regexp.MustCompile(`^` + NamePattern + `$`)

// CheckName refuses a name that does not match NamePattern; field says whose
// name it is.
func CheckName(field, name string) error {
	if nameRule.MatchString(name) {
		return nil
	}
	message := "\"" + Shorten(name) + "\" is not a valid name"
	if name == "" {
		message = "a name is required"
	}
	return &Error{Code: CodeInvalid, Field: field, Value: Shorten(name), Bound: NamePattern, Message: message,
		Fix: "use 1 to 63 lower-case letters, digits, '.', '_' or '-', beginning with a letter or digit"}
}

// Ref names one job of one tenant.
type Ref struct {
	Tenant string `json:"tenant"`
	Job    string `json:"job"`
}

// String renders the reference as "tenant/job", which is also its partition key.
func (r Ref) String() string { return r.Tenant + "/" + r.Job }
