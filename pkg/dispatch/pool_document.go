package dispatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// poolText is a pool as documents write it. Absent keys take the defaults of
// the pool's kind.
type poolText struct {
	Name           string       `json:"name"`
	Kind           Kind         `json:"kind,omitempty"`
	Lease          job.Duration `json:"lease,omitempty"`
	Ceiling        job.Duration `json:"ceiling,omitempty"`
	Slots          int          `json:"slots,omitempty"`
	Batch          int          `json:"batch,omitempty"`
	MemoryMB       int          `json:"memory_mb,omitempty"`
	CPU            int          `json:"cpu,omitempty"`
	MaxConcurrency int          `json:"max_concurrency,omitempty"`
	Isolation      int          `json:"isolation,omitempty"`
}

// PoolKeys are the keys that a document's pool may have, in the order in which
// they are documented.
func PoolKeys() []string {
	of := reflect.TypeFor[poolText]()
	keys := make([]string, of.NumField())
	for i := range keys {
		keys[i], _, _ = strings.Cut(of.Field(i).Tag.Get("json"), ",")
	}
	return keys
}

// kindDefaults are what a document's pool has where it says nothing.
func kindDefaults(k Kind) poolText {
	if k == KindECS {
		return poolText{Kind: KindECS, Lease: job.Duration(30 * time.Second), Ceiling: job.Duration(12 * time.Hour), Slots: 16, Batch: 1, MemoryMB: 2048, CPU: 1024,
			MaxConcurrency: 10, Isolation: 1}
	}
	return poolText{Kind: KindLambda, Lease: job.Duration(30 * time.Second), Ceiling: job.Duration(14 * time.Minute), Slots: 16, Batch: 10, MemoryMB: 512,
		MaxConcurrency: 100, Isolation: 2}
}

// UnmarshalJSON reads a pool of a document. Unknown keys are refused; what is
// out of bounds is left to Pools.Check.
func (p *Pool) UnmarshalJSON(document []byte) error {
	var kind struct {
		Kind Kind `json:"kind"`
	}
	if err := json.Unmarshal(document, &kind); err != nil {
		return err
	}
	text := kindDefaults(kind.Kind)
	if err := strictly(document, &text); err != nil {
		return err
	}
	*p = Pool{Name: text.Name, Kind: text.Kind, Lease: time.Duration(text.Lease), Ceiling: time.Duration(text.Ceiling), Slots: text.Slots, Batch: text.Batch,
		MemoryMB: text.MemoryMB, CPU: text.CPU, MaxConcurrency: text.MaxConcurrency, Isolation: text.Isolation}
	return nil
}

// MarshalJSON writes the pool as documents have it.
func (p Pool) MarshalJSON() ([]byte, error) {
	return json.Marshal(poolText{Name: p.Name, Kind: p.Kind, Lease: job.Duration(p.Lease), Ceiling: job.Duration(p.Ceiling), Slots: p.Slots, Batch: p.Batch,
		MemoryMB: p.MemoryMB, CPU: p.CPU, MaxConcurrency: p.MaxConcurrency, Isolation: p.Isolation})
}

// ReadPools reads the pools of an installation from a JSON array and checks
// them. Stack and runtime read the same document, so a pool means the same to
// both. The error joins one *job.Error for each fault.
func ReadPools(document []byte) (Pools, error) {
	var pools Pools
	if err := strictly(document, &pools); err != nil {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "pools", Value: job.Shorten(string(document)), Bound: "a list of pools",
			Message: "the pools cannot be read: " + err.Error(), Fix: "mend the list"}
	}
	if err := pools.Check(); err != nil {
		return nil, err
	}
	return pools, nil
}

// strictly decodes one JSON value and nothing after it, with known keys only.
func strictly(document []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something follows the value")
	}
	return nil
}
