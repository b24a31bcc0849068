package poolfile_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/dispatch/poolfile"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestTheFileOfTheStackHoldsThePoolsThatShip(t *testing.T) {
	document, err := os.ReadFile("../../../infra/pools.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pools, err := poolfile.Read(document)
	if want := dispatch.Pools(dispatch.DefaultPools()); err != nil || !reflect.DeepEqual(pools, want) {
		t.Errorf("read %+v, %v\nwant %+v", pools, err, want)
	}
}

func TestAFileMayHoldTheListAlone(t *testing.T) {
	for sentence, document := range map[string]string{
		"as the variable has it": `[{"name":"fast-io"},{"name":"reports","kind":"ecs","ceiling":"3h"}]`,
		"as YAML":                "- name: fast-io\n- {name: reports, kind: ecs, ceiling: 3h}\n",
		"with an alias":          "pools:\n- name: fast-io\n  ceiling: &short 3m\n- name: reports\n  kind: ecs\n  ceiling: 3h\n  lease: *short\n",
	} {
		t.Run(sentence, func(t *testing.T) {
			pools, err := poolfile.Read([]byte(document))
			if err != nil || !reflect.DeepEqual(pools.Names(), []string{"fast-io", "reports"}) || pools[1].Ceiling != 3*time.Hour || pools[1].CPU != 1024 {
				t.Errorf("read %+v, %v", pools, err)
			}
		})
	}
}

func TestAFileIsRefusedWithLineKeyAndBound(t *testing.T) {
	const good = "pools:\n- name: fast-io\n"
	for sentence, row := range map[string]struct {
		document string
		want     []string // line code field bound
	}{
		"a ceiling that outlives a function": {"pools:\n- name: fast-io\n  ceiling: 15m\n", []string{"3 INVALID pools[0].ceiling 1s to 14m"}},
		"all faults, in the order of lines": {"pools:\n- name: fast-io\n  slots: 0.5\n  colour: red\n  ceiling: 15m\n- name: x\n  lease: 1 minute\n",
			[]string{"3 INVALID pools[0].slots whole number", "4 UNKNOWN_FIELD pools[0].colour name, kind", "5 INVALID pools[0].ceiling 1s to 14m", "7 INVALID pools[1].lease such as 30s"}},
		"a text where a number belongs":          {good + "  batch: many\n", []string{"3 INVALID pools[0].batch whole number"}},
		"a bare number of seconds":               {good + "  lease: 15\n", []string{"3 INVALID pools[0].lease such as 30s"}},
		"a number where a text belongs":          {"pools:\n- name: 7\n", []string{"2 INVALID pools[0].name text"}},
		"one pool twice":                         {good + "- slots: 2\n  name: fast-io\n", []string{"4 INVALID pools[1].name name of its own"}},
		"a container of no size, in flow style":  {good + "- {name: x, kind: ecs,\n   cpu: 3}\n", []string{"4 INVALID pools[1].cpu 256, 512"}},
		"a pool without a name":                  {good + "- kind: ecs\n", []string{"3 INVALID pools[1].name " + job.NamePattern}},
		"a list of words":                        {"pools:\n- fast-io\n", []string{"2 INVALID pools[0] keys and values"}},
		"none where a job goes that names none":  {"\npools:\n- name: slow\n", []string{"2 INVALID pools fast-io"}},
		"settings in place of pools":             {"profile: small\n", []string{"1 UNKNOWN_FIELD profile pools"}},
		"a key beside the pools":                 {good + "types: [a]\n", []string{"3 UNKNOWN_FIELD types pools"}},
		"nothing":                                {"", []string{"1 INVALID pools list of pools"}},
		"nothing under the key":                  {"# none\npools:\n", []string{"2 INVALID pools list of pools"}},
		"no YAML":                                {"pools:\n- {name: fast-io\n", []string{"2 INVALID file "}},
		"a key that is given twice":              {good + "  slots: 1\n  slots: 2\n", []string{"4 INVALID file "}},
		"several documents":                      {good + "---\n" + good, []string{"1 INVALID file "}},
		"a file that is no file of pools at all": {strings.Repeat("#", poolfile.MaxFile+1), []string{"1 TOO_LARGE file 65536 bytes"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			pools, err := poolfile.Read([]byte(row.document))
			var faults poolfile.Faults
			if !errors.As(err, &faults) || pools != nil || len(faults) != len(row.want) {
				t.Fatalf("got %v, %v", pools, err)
			}
			for i, want := range row.want {
				at, bound, _ := strings.Cut(want, " ")
				code, rest, _ := strings.Cut(bound, " ")
				field, bound, _ := strings.Cut(rest, " ")
				e := faults[i]
				if fmt.Sprint(e.Line) != at || string(e.Code) != code || e.Field != field || !strings.Contains(e.Bound, bound) || e.Message == "" || e.Fix == "" {
					t.Errorf("refused with %+v, want %s", *e, want)
				}
			}
			if job.CodeOf(err) != faults[0].Code {
				t.Errorf("the code of %v is %s", err, job.CodeOf(err))
			}
		})
	}
}
