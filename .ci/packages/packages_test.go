package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestMain plays a function: one that asks for an event, or one that ends.
func TestMain(m *testing.M) {
	api := os.Getenv("AWS_LAMBDA_RUNTIME_API")
	if api == "" {
		os.Exit(m.Run())
	}
	if strings.Contains(os.Args[0], "asks") {
		if answer, err := http.Get("http://" + api + "/2018-06-01/runtime/invocation/next"); err == nil {
			_ = answer.Body.Close()
		}
	}
	_, _ = os.Stdout.WriteString("the function cannot start")
	os.Exit(1)
}

// folder is a folder of functions, each a name for this test's own program.
func folder(t *testing.T, functions ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, function := range functions {
		if err := os.Mkdir(filepath.Join(dir, function), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, filepath.Join(dir, function, "bootstrap")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func measure(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, &out)
	return out.String(), err
}

func TestEachFunctionsSizeAndStartArePrinted(t *testing.T) {
	dir := folder(t, "asks", "asks-too")
	told, err := measure(t, "-built", dir, "-native", dir, "-starts", "3", "asks", "asks-too")
	lines := strings.Split(strings.TrimSpace(told), "\n")
	if err != nil || len(lines) != 4 {
		t.Fatalf("%v: %s", err, told)
	}
	for i, want := range []string{"function", "asks", "asks-too", "budget"} {
		if fields := strings.Fields(lines[i]); fields[0] != want {
			t.Errorf("line %d is %q, want %s", i, lines[i], want)
		}
	}
	if runtime.GOOS == "linux" && strings.Count(lines[1], " ms") != 2 {
		t.Errorf("no time is told: %q", lines[1])
	}
}

func TestAPackageOverTheBudgetFails(t *testing.T) {
	dir := folder(t, "asks", "asks-too")
	size, err := zipped(filepath.Join(dir, "asks", "bootstrap"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := os.Stat(filepath.Join(dir, "asks", "bootstrap"))
	if err != nil || size < plain.Size()/10 || size >= plain.Size() {
		t.Errorf("%d bytes are zipped to %d, %v", plain.Size(), size, err)
	}
	for most, over := range map[string]bool{"1": true, "1000000000": false} {
		told, err := measure(t, "-built", dir, "-most", most, "asks")
		if (err != nil) != over || over && !strings.Contains(err.Error(), "asks") || !strings.Contains(told, "budget") {
			t.Errorf("with %s bytes allowed it ends with %v:\n%s", most, err, told)
		}
	}
}

func TestWhatCannotBeMeasuredIsTold(t *testing.T) {
	dir := folder(t, "ends")
	for sentence, row := range map[string]struct {
		args []string
		want string
	}{
		"a function that ends by itself": {[]string{"-built", dir, "-native", dir, "ends"}, "the function cannot start"},
		"a function that was not built":  {[]string{"-built", dir, "absent"}, "make packages"},
		"no function":                    {[]string{"-built", dir}, "which functions"},
	} {
		if told, err := measure(t, row.args...); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s\n%s", sentence, err, row.want, told)
		}
	}
}
