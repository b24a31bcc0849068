package dispatch_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestThePoolsThatShipSurviveTheirDocument(t *testing.T) {
	ship := dispatch.Pools(dispatch.DefaultPools())
	document, err := json.Marshal(ship)
	if err != nil {
		t.Fatal(err)
	}
	read, err := dispatch.ReadPools(document)
	if err != nil || !reflect.DeepEqual(read, ship) {
		t.Errorf("read %+v, %v\nwant %+v", read, err, ship)
	}
}

func TestAPoolTakesWhatItDoesNotSayFromItsKind(t *testing.T) {
	read, err := dispatch.ReadPools([]byte(`[{"name":"fast-io","lease":"15s"},{"name":"reports","kind":"ecs","max_concurrency":3}]`))
	want := dispatch.Pools{
		{Name: "fast-io", Kind: dispatch.KindLambda, Lease: 15 * time.Second, Ceiling: 14 * time.Minute, Slots: 16, Batch: 10, MemoryMB: 512, MaxConcurrency: 100, Isolation: 2},
		{Name: "reports", Kind: dispatch.KindECS, Lease: 30 * time.Second, Ceiling: 12 * time.Hour, Slots: 16, Batch: 1, MemoryMB: 2048, CPU: 1024, MaxConcurrency: 3, Isolation: 1},
	}
	if err != nil || !reflect.DeepEqual(read, want) {
		t.Errorf("read %+v, %v\nwant %+v", read, err, want)
	}
	if got := read.Of(dispatch.KindECS).Names(); !reflect.DeepEqual(got, []string{"reports"}) {
		t.Errorf("container pools are %v", got)
	}
	if got := (dispatch.Pools{{Name: "plain"}}).Of(dispatch.KindLambda).Names(); !reflect.DeepEqual(got, []string{"plain"}) {
		t.Errorf("a pool without a kind is a function's: got %v", got)
	}
}

func TestPoolsThatCannotBeDeployedAreRefused(t *testing.T) {
	const standard = `{"name":"fast-io"}`
	for sentence, row := range map[string]struct {
		document, field, bound string
	}{
		"not a list":                                 {`{}`, "pools", "list of pools"},
		"something after the list":                   {`[` + standard + `] []`, "pools", "list of pools"},
		"a key that no pool has":                     {`[{"name":"fast-io","colour":"red"}]`, "pools", "list of pools"},
		"no pools":                                   {`[]`, "pools", "at least fast-io"},
		"none for jobs that name none":               {`[{"name":"slow"}]`, "pools", "at least fast-io"},
		"two of one name":                            {`[` + standard + `,` + standard + `]`, "pools[1].name", "of its own"},
		"a name that is none":                        {`[` + standard + `,{"name":"Fast IO"}]`, "pools[1].name", job.NamePattern},
		"a kind that is none":                        {`[{"name":"fast-io","kind":"vm"}]`, "pools[0].kind", "lambda or ecs"},
		"a lease too short to be kept":               {`[{"name":"fast-io","lease":"4s"}]`, "pools[0].lease", "5s to 5m"},
		"a lease of half seconds":                    {`[{"name":"fast-io","lease":"7500ms"}]`, "pools[0].lease", "whole seconds"},
		"a ceiling that outlives a function":         {`[{"name":"fast-io","ceiling":"15m"}]`, "pools[0].ceiling", "1s to 14m"},
		"a ceiling that outlives every job":          {`[` + standard + `,{"name":"long","kind":"ecs","ceiling":"13h"}]`, "pools[1].ceiling", "1s to 12h"},
		"a batch that SQS does not give":             {`[{"name":"fast-io","batch":11}]`, "pools[0].batch", "1 to 10"},
		"no slots":                                   {`[{"name":"fast-io","slots":-1}]`, "pools[0].slots", "1 to 1024"},
		"a function of no memory":                    {`[{"name":"fast-io","memory_mb":64}]`, "pools[0].memory_mb", "128 to 10240"},
		"a processor share of a function":            {`[{"name":"fast-io","cpu":256}]`, "pools[0].cpu", "absent"},
		"less concurrency than a mapping can have":   {`[{"name":"fast-io","max_concurrency":1}]`, "pools[0].max_concurrency", "2 to 1000"},
		"less isolation than a mapping can have":     {`[{"name":"fast-io","isolation":1}]`, "pools[0].isolation", "2 to 1000"},
		"a share of processor that no container has": {`[` + standard + `,{"name":"long","kind":"ecs","cpu":300}]`, "pools[1].cpu", "256, 512"},
		"a container with little memory":             {`[` + standard + `,{"name":"long","kind":"ecs","cpu":1024,"memory_mb":1024}]`, "pools[1].memory_mb", "2048 to 8192 in steps of 1024"},
		"a container with memory between two sizes":  {`[` + standard + `,{"name":"long","kind":"ecs","cpu":1024,"memory_mb":2500}]`, "pools[1].memory_mb", "steps of 1024"},
		"two isolation lanes in a container":         {`[` + standard + `,{"name":"long","kind":"ecs","isolation":2}]`, "pools[1].isolation", "1 to 1"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := dispatch.ReadPools([]byte(row.document))
			var refusal *job.Error
			if !errors.As(err, &refusal) {
				t.Fatalf("accepted, or refused with %v", err)
			}
			if refusal.Field != row.field || !strings.Contains(refusal.Bound, row.bound) {
				t.Errorf("refused %s with bound %q: %v; want %s, %q", refusal.Field, refusal.Bound, err, row.field, row.bound)
			}
		})
	}
}

func TestEveryFaultOfThePoolsIsToldAtOnce(t *testing.T) {
	_, err := dispatch.ReadPools([]byte(`[{"name":"fast-io","batch":0,"slots":2000},{"name":"x","lease":"1h"}]`))
	for _, field := range []string{"pools[0].slots", "pools[1].lease"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}
