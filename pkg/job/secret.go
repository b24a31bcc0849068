package job

import (
	"regexp"
	"strings"
)

// The stores that a secret can be in.
const (
	StoreSecretsManager = "secretsmanager"
	StoreSSM            = "ssm"
)

// SecretRef names a secret that a job uses without holding it:
// secretsmanager:ARN, secretsmanager:ARN#key for one member of a secret that is a
// JSON object, or ssm:/path for a parameter.
type SecretRef struct {
	Store string // StoreSecretsManager or StoreSSM
	Name  string // ARN or path
	Key   string // empty = the whole secret
}

// String is the reference as jobs write it.
func (r SecretRef) String() string {
	text := r.Store + ":" + r.Name
	if r.Key != "" {
		text += "#" + r.Key
	}
	return text
}

var (
	secretNameForm = regexp.MustCompile(`^secret:[a-zA-Z0-9/_+=.@-]{1,519}$`)
	secretKeyForm  = regexp.MustCompile(`^[ -~]{1,255}$`)
	parameterForm  = regexp.MustCompile(`^(/[a-zA-Z0-9_.-]+)+$`)
)

// maxParameter is the longest name of a parameter.
const maxParameter = 1011

// SecretIn finds the reference at the end of a text such as
// "Bearer ssm:/billing/token": before is what stands in front of it. The text
// holds none when the last value is false, and one that cannot be used when err
// is not nil.
func SecretIn(text string) (before string, ref SecretRef, holds bool, err error) {
	cut := strings.LastIndexByte(text, ' ') + 1
	before, word := text[:cut], text[cut:]
	if !strings.HasPrefix(word, StoreSecretsManager+":") && !strings.HasPrefix(word, StoreSSM+":") {
		return text, SecretRef{}, false, nil
	}
	ref, err = ParseSecretRef(word)
	return before, ref, true, err
}

// ParseSecretRef reads a reference.
func ParseSecretRef(text string) (SecretRef, error) {
	refuse := func(message, fix string) (SecretRef, error) {
		return SecretRef{}, &Error{Code: CodeInvalid, Field: "secret", Value: Shorten(text), Bound: "secretsmanager:ARN, secretsmanager:ARN#key or ssm:/path", Message: message, Fix: fix}
	}
	store, name, _ := strings.Cut(text, ":")
	switch store {
	case StoreSecretsManager:
		name, key, keyed := strings.Cut(name, "#")
		a, is := ParseARN(name)
		if !is || a.Service != StoreSecretsManager || !secretNameForm.MatchString(a.Resource) {
			return refuse("\""+Shorten(name)+"\" is not the ARN of a secret", "copy the secret's ARN")
		}
		if keyed && !secretKeyForm.MatchString(key) {
			return refuse("\""+Shorten(key)+"\" is not a key of a secret", "name a key of the JSON object in the secret, or leave it out with the #")
		}
		return SecretRef{Store: store, Name: name, Key: key}, nil
	case StoreSSM:
		if len(name) > maxParameter || !parameterForm.MatchString(name) {
			return refuse("\""+Shorten(name)+"\" is not the path of a parameter", "write the parameter's whole path, such as /billing/token")
		}
		return SecretRef{Store: store, Name: name}, nil
	}
	return refuse("\""+Shorten(text)+"\" does not refer to a secret", "begin it with secretsmanager: or ssm:")
}

// CheckSecretRules refuses a list of what jobs may refer to that holds something
// else than references without a key; a * at the end stands for what may follow.
func CheckSecretRules(rules []string) error {
	for _, rule := range rules {
		plain := strings.TrimSuffix(rule, "*")
		if plain != rule {
			plain += "x"
		}
		ref, err := ParseSecretRef(plain)
		if err != nil || ref.Key != "" {
			return invalid("secrets", rule, "secretsmanager:ARN or ssm:/path, with a * at the end for what may follow", "\""+Shorten(rule)+"\" names no secrets", "write the ARN or the path, without a key")
		}
	}
	return nil
}

// Allowed tells whether one of the rules takes the secret in.
func (r SecretRef) Allowed(rules []string) bool {
	name := SecretRef{Store: r.Store, Name: r.Name}.String()
	for _, rule := range rules {
		if beginning, open := strings.CutSuffix(rule, "*"); rule == name || open && strings.HasPrefix(name, beginning) {
			return true
		}
	}
	return false
}
