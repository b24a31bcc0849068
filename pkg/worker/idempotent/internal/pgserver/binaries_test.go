//go:build unix

package pgserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheProgramsAreThoseOfThePathElseTheNewestPackagedOnes(t *testing.T) {
	dir := t.TempDir()
	program := func(path ...string) string {
		name := filepath.Join(append(append([]string{dir}, path...), "initdb")...)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return filepath.Dir(name)
	}
	t.Setenv("PATH", filepath.Join(dir, "nothing"))
	pattern := filepath.Join(dir, "lib/*/bin/initdb")
	if _, err := binaries(pattern); err == nil || !strings.Contains(err.Error(), "apt-get install postgresql") || !strings.Contains(err.Error(), "make deps") {
		t.Errorf("where none is the answer is %v", err)
	}
	program("lib", "9", "bin")
	newest := program("lib", "17", "bin")
	program("lib", "15", "bin")
	if got, err := binaries(pattern); err != nil || got != newest {
		t.Errorf("found %s, %v; want %s", got, err, newest)
	}
	own := program("own")
	t.Setenv("PATH", own)
	if got, err := binaries(pattern); err != nil || got != own {
		t.Errorf("found %s, %v; want %s", got, err, own)
	}
}
