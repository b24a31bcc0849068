package stacks_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	t.Errorf("%s has changed; if it is meant, run the test with -update and review the difference\n%s", path, firstDifference(string(want), got))
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for n := range min(len(w), len(g)) {
		if w[n] != g[n] {
			return "first difference:\n- " + w[n] + "\n+ " + g[n]
		}
	}
	return "one goes on where the other ends"
}

func TestTheRightsOfEveryRoleAreThoseThatWereReviewed(t *testing.T) {
	var list strings.Builder
	for _, r := range rolesOf(t, installed(t, "profile: small")) {
		list.WriteString(r.Name + "\n  " + strings.Join(r.Rights, "\n  ") + "\n")
	}
	golden(t, "rights.txt", list.String())
}

func TestTheReviewRulesFindNothing(t *testing.T) {
	for _, file := range []string{"profile: small", "profile: large", "profile: small\nworkers: {flow_logs: false}", "profile: small\ntraces: {endpoint: xray}",
		"profile: small\ntables: {key_arn: \"" + key + "\"}",
		"profile: small\nworkers: {image: \"123456789012.dkr.ecr.eu-west-1.amazonaws.com/worker:1\"}\nwebhooks: {secret_arn: \"" + secret + "\"}"} {
		for word, s := range installed(t, file) {
			for _, found := range *assertions.Annotations_FromStack(s.Stack).FindError(jsii.String("*"), assertions.Match_AnyValue()) {
				t.Errorf("%s, stack %s: %v", file, word, found.Entry.Data) //nolint:staticcheck // the assertions module still answers the old type
			}
		}
	}
}
