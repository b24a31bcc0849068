package stacks_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// cfnLint is the program, made by `make need-cfn-lint`; CFN_LINT names another.
func cfnLint(t *testing.T) string {
	t.Helper()
	program := os.Getenv("CFN_LINT")
	if program == "" {
		program = "../../build/cfn-lint/bin/cfn-lint"
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v; `make infra-test` installs it", err)
	}
	return program
}

func TestTheTemplatesAreValidCloudFormation(t *testing.T) {
	program, dir := cfnLint(t), t.TempDir()
	arguments := []string{"-i", "W3005", "--"}
	for name, file := range map[string]string{"small": "profile: small", "large": "profile: large", "own": "profile: large\ntables: {key_arn: \"" + key + "\"}\n" +
		"api: {authorizer: jwt, jwt_issuer: \"https://id.example.com/\", jwt_audience: [belfry]}"} {
		i := installed(t, file)
		for _, word := range slices.Sorted(maps.Keys(i)) {
			raw, err := json.Marshal(i[word].Raw)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name+"-"+word+".template.json")
			if err := os.WriteFile(path, raw, 0o644); err != nil {
				t.Fatal(err)
			}
			arguments = append(arguments, path)
		}
	}
	if out, err := exec.CommandContext(t.Context(), program, arguments...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
