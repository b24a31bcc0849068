package kv

// undoLog remembers what one Update has overwritten, newest last, so that an
// Update which fails can be taken back without disturbing its neighbours.
type undoLog []undoStep

type undoStep struct {
	space    string
	key      []byte
	previous []byte
	existed  bool
}

// rollback restores, in reverse order, everything the log remembers.
func (log undoLog) rollback(restore func(undoStep)) {
	for i := len(log) - 1; i >= 0; i-- {
		restore(log[i])
	}
}
