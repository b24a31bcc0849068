package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePoolsOfAFileAreThoseOfTheProcess(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pools.yaml")
	if err := os.WriteFile(file, []byte("pools:\n- name: fast-io\n  ceiling: 2m\n- name: reports\n  kind: ecs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startDev(t, t.TempDir(), "--pools", file)
	const all = "schedule: {every: 1h}\ntarget: {log: {}}\n"
	if got := belfry(t, p.url, "job: a\ntimeout: 3h\npool: reports\n"+all, "apply", "-f", "-"); got.code != exitOK {
		t.Errorf("a pool of the file: %+v", got)
	}
	if got := belfry(t, p.url, "job: b\ntimeout: 121s\n"+all, "apply", "-f", "-"); got.code != exitRefused || !strings.Contains(got.err, "stdin:2: timeout") || !strings.Contains(got.err, "2m") {
		t.Errorf("a timeout above the ceiling of the file: %+v", got)
	}
}
