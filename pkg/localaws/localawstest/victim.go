package localawstest

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

// VictimDir names the directory of a child process that is to be killed. A TestMain
// that finds it set writes to a backend there for ever, and says on stdout what it was
// told has been done.
const VictimDir = "BELFRY_TEST_VICTIM_DIR"

// Kill runs the test's own binary as a victim on dir, kills it once it has said more
// than that many lines, and hands over every line: what it said meanwhile, too.
func Kill(t *testing.T, dir string, lines int, said func(line string)) {
	t.Helper()
	victim := exec.CommandContext(t.Context(), os.Args[0])
	victim.Env, victim.Stderr = append(victim.Environ(), VictimDir+"="+dir), os.Stderr
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(out)
	for n := 0; scanner.Scan(); n++ {
		if n == lines {
			if err := victim.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		said(scanner.Text())
	}
	_ = victim.Wait()
}
