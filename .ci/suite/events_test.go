package main

import (
	"bytes"
	"strings"
	"testing"
)

var streams = map[string]struct {
	events string
	want   counts
}{
	"a passed test counts once": {
		`{"Action":"run","Package":"p","Test":"A"}
			 {"Action":"pass","Package":"p","Test":"A"}
			 {"Action":"pass","Package":"p"}`,
		counts{passed: 1},
	},
	"a heading does not count beside its sub-tests": {
		`{"Action":"run","Package":"p","Test":"A"}
			 {"Action":"run","Package":"p","Test":"A/x"}
			 {"Action":"run","Package":"p","Test":"A/y"}
			 {"Action":"pass","Package":"p","Test":"A/x"}
			 {"Action":"fail","Package":"p","Test":"A/y"}
			 {"Action":"fail","Package":"p","Test":"A"}
			 {"Action":"fail","Package":"p"}`,
		counts{passed: 1, failed: 1},
	},
	"a heading that fails by itself counts": {
		`{"Action":"run","Package":"p","Test":"A"}
			 {"Action":"run","Package":"p","Test":"A/x"}
			 {"Action":"pass","Package":"p","Test":"A/x"}
			 {"Action":"fail","Package":"p","Test":"A"}
			 {"Action":"fail","Package":"p"}`,
		counts{passed: 1, failed: 1},
	},
	"a package that does not build is one failure": {
		`{"ImportPath":"p","Action":"build-output","Output":"p/x.go:1: wrong\n"}
			 {"ImportPath":"p","Action":"build-fail"}
			 {"Action":"fail","Package":"p","FailedBuild":"p"}`,
		counts{failed: 1},
	},
	"a test that never ended is one failure, not two": {
		`{"Action":"run","Package":"p","Test":"A"}
			 {"Action":"fail","Package":"p"}`,
		counts{failed: 1},
	},
	"a repeated test that failed once has failed": {
		`{"Action":"run","Package":"p","Test":"A"}
			 {"Action":"fail","Package":"p","Test":"A"}
			 {"Action":"run","Package":"p","Test":"A"}
			 {"Action":"pass","Package":"p","Test":"A"}
			 {"Action":"fail","Package":"p"}`,
		counts{failed: 1},
	},
	"a skipped test is told apart": {
		`{"Action":"run","Package":"p","Test":"A"}
			 {"Action":"skip","Package":"p","Test":"A"}
			 {"Action":"pass","Package":"p"}`,
		counts{skipped: 1},
	},
}

func TestTally(t *testing.T) {
	for sentence, c := range streams {
		t.Run(sentence, func(t *testing.T) {
			tally := newTally()
			if err := tally.read(strings.NewReader(c.events)); err != nil {
				t.Fatal(err)
			}
			if got := tally.sum(); got != c.want {
				t.Errorf("counted %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestExplainShowsWhatTheFailedTestSaid(t *testing.T) {
	tally := newTally()
	err := tally.read(strings.NewReader(`{"Action":"run","Package":"p","Test":"A"}
		{"Action":"output","Package":"p","Test":"A","Output":"want 1, got 2\n"}
		{"Action":"fail","Package":"p","Test":"A"}
		{"Action":"output","Package":"q","Test":"B","Output":"all is well\n"}
		pattern ./none: no such directory`))
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	tally.explain(&said)
	for _, want := range []string{"failed: p A", "want 1, got 2", "no such directory"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in:\n%s", want, said.String())
		}
	}
	if strings.Contains(said.String(), "all is well") {
		t.Errorf("the output of a passed test is shown:\n%s", said.String())
	}
}

func TestFuzzTargetsAreReadByPackage(t *testing.T) {
	got := fuzzTargets([]byte("FuzzA\nFuzzB\nok  \tm/p\t0.1s\nok  \tm/q\t0.1s\n?   \tm/r\t[no test files]\nFuzzC\nok  \tm/s\t0.1s\n"))
	if len(got) != 2 || strings.Join(got["m/p"], " ") != "FuzzA FuzzB" || strings.Join(got["m/s"], " ") != "FuzzC" {
		t.Errorf("read %v", got)
	}
}
