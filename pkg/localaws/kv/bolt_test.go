package kv_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// Updates that wait together are kept or refused one by one, though they share
// a commit.
func TestAGroupSharesACommitButNotItsFailures(t *testing.T) {
	engine := openBolt(t)
	var group sync.WaitGroup
	hold, held := make(chan struct{}), make(chan struct{})
	group.Go(func() {
		_ = engine.Update(func(kv.Tx) error { close(held); <-hold; return nil })
	})
	<-held // the others gather behind this one
	const n = 60
	var kept, refused, panicked atomic.Int32
	for i := range n {
		group.Go(func() {
			defer func() {
				if recover() != nil {
					panicked.Add(1)
				}
			}()
			switch err := engine.Update(func(tx kv.Tx) error { return oneOfThree(tx, i) }); {
			case err == nil:
				kept.Add(1)
			case errors.Is(err, errRefused):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	close(hold)
	group.Wait()
	if kept.Load() != n/3 || refused.Load() != n/3 || panicked.Load() != n/3 {
		t.Errorf("%d kept, %d refused, %d panicked, want %d each", kept.Load(), refused.Load(), panicked.Load(), n/3)
	}
	view(t, engine, func(tx kv.Tx) {
		if got := binary.BigEndian.Uint64(tx.Get("count", []byte("n"))); got != n/3 {
			t.Errorf("the counter is %d, want %d", got, n/3)
		}
		if got := len(keysOf(tx, "seen")); got != n/3 {
			t.Errorf("%d keys, want %d", got, n/3)
		}
	})
}

// oneOfThree counts and notes i; one third is then refused, one third panics.
func oneOfThree(tx kv.Tx, i int) error {
	count(tx)
	tx.Put("seen", []byte(strconv.Itoa(i)), nil)
	switch i % 3 {
	case 1:
		return errRefused
	case 2:
		panic("boom")
	}
	return nil
}

func count(tx kv.Tx) uint64 {
	var n uint64
	if stored := tx.Get("count", []byte("n")); stored != nil {
		n = binary.BigEndian.Uint64(stored)
	}
	tx.Put("count", []byte("n"), binary.BigEndian.AppendUint64(nil, n+1))
	return n + 1
}

func TestAClosedEngineRefuses(t *testing.T) {
	engine, err := kv.OpenBolt(t.TempDir() + "/kv.db")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := engine.Update(func(kv.Tx) error { return nil }); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("Update returned %v", err)
	}
	if err := engine.View(func(kv.Tx) error { return nil }); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("View returned %v", err)
	}
}

func TestTheFileBelongsToOneProcess(t *testing.T) {
	path := t.TempDir() + "/kv.db"
	engine, err := kv.OpenBolt(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	if second, err := kv.OpenBolt(path); err == nil {
		_ = second.Close()
		t.Error("the file was opened twice")
	}
}

const victimFile = "BELFRY_KV_VICTIM"

// TestMain is also the victim: a process that writes until it is killed, and
// says what it was told is safe.
func TestMain(m *testing.M) {
	if path := os.Getenv(victimFile); path != "" {
		beVictim(path)
		return
	}
	os.Exit(m.Run())
}

func beVictim(path string) {
	engine, err := kv.OpenBolt(path)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	var say sync.Mutex
	for range 8 {
		go func() {
			for {
				var n uint64
				_ = engine.Update(func(tx kv.Tx) error {
					n = count(tx)
					tx.Put("seen", binary.BigEndian.AppendUint64(nil, n), make([]byte, n%3000))
					return nil
				})
				say.Lock()
				fmt.Println(n)
				say.Unlock()
			}
		}()
	}
	select {}
}

// Killed at any moment, the engine keeps everything that an Update returned
// for, and no half of anything.
func TestWhatWasReturnedForSurvivesAKill(t *testing.T) {
	path := t.TempDir() + "/kv.db"
	for round := range 4 {
		safe := killAfter(t, path, 50+137*round)
		engine, err := kv.OpenBolt(path)
		if err != nil {
			t.Fatal(err)
		}
		view(t, engine, func(tx kv.Tx) {
			counted := binary.BigEndian.Uint64(tx.Get("count", []byte("n")))
			if counted < safe {
				t.Errorf("round %d: the counter is %d although %d was safe", round, counted, safe)
			}
			if got := uint64(len(keysOf(tx, "seen"))); got != counted {
				t.Errorf("round %d: %d keys for a counter of %d", round, got, counted)
			}
		})
		if err := engine.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killAfter runs the victim, kills it after so many lines, and returns the
// highest number that it had said.
func killAfter(t *testing.T, path string, lines int) (safe uint64) {
	t.Helper()
	victim := exec.CommandContext(t.Context(), os.Args[0])
	victim.Env = append(os.Environ(), victimFile+"="+path)
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(out)
	for range lines {
		if !scanner.Scan() {
			t.Fatalf("the victim stopped early: %v", scanner.Err())
		}
		n, err := strconv.ParseUint(scanner.Text(), 10, 64)
		if err != nil {
			t.Fatalf("the victim said %q", scanner.Text())
		}
		safe = max(safe, n)
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
	return safe
}

func BenchmarkUpdate(b *testing.B) {
	engine, err := kv.OpenBolt(b.TempDir() + "/kv.db")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	var n atomic.Uint64
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			key := binary.BigEndian.AppendUint64(nil, n.Add(1))
			_ = engine.Update(func(tx kv.Tx) error { tx.Put("s", key, make([]byte, 600)); return nil })
		}
	})
}
