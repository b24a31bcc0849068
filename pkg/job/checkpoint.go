package job

import "time"

// Bounds of a checkpoint.
const (
	// InlineCheckpoint is how much of a checkpoint lies in the table, in bytes;
	// a larger one lies in the bucket.
	InlineCheckpoint = 4 << 10
	// MaxCheckpoint bounds a checkpoint, in bytes.
	MaxCheckpoint = 16 << 20
)

// Checkpoint is how far an execution has come, as its handler saved it.
type Checkpoint struct {
	Ref
	Key
	// Token is the fencing token of the newest attempt that has saved or loaded:
	// none of a lower one can save any more.
	Token   int64
	SavedBy int64 // token of the attempt that saved it
	Number  int64 // how often it was saved; zero = never, it only fences
	At      time.Time
	Size    int64  // of the content, in bytes
	Content []byte // when it lies in the table
	Object  string // else its name in the bucket
	Digest  string // and its SHA-256, in hex
}
