package localstack

import (
	"slices"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/dispatch/poolfile"
)

func pools(t *testing.T, name string) dispatch.Pools {
	t.Helper()
	found, err := poolfile.Read([]byte(read(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheEmulatorHasThePoolsThatShipAndOneForHandlersOfItsOwn(t *testing.T) {
	ship, here := pools(t, "../infra/pools.yaml"), pools(t, "pools.yaml")
	if len(here) != len(ship)+1 || !slices.Equal(here[:len(ship)], ship) {
		t.Errorf("pools.yaml holds\n%+v\nwant\n%+v\nand one more", here, ship)
	}
	if last := here[len(here)-1]; last.Kind != dispatch.KindECS {
		t.Errorf("%s is served by %s; want container workers, which the test starts", last.Name, last.Kind)
	}
}
