package assemble

import (
	"io"

	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// Metrics makes the emitter of an installation, which writes its figures to out
// one line a write.
func Metrics(s Settings, out io.Writer) *observe.Emitter {
	s = s.filled()
	return observe.New(observe.Options{Namespace: observe.Namespace(s.Prefix), Out: out, Clock: s.Clock, Pools: s.Pools.Names(),
		Types: s.Types, Reasons: lifecycle.Reasons})
}
