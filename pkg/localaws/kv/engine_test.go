package kv_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// onEngines runs a test on both engines.
func onEngines(t *testing.T, test func(t *testing.T, engine kv.Engine)) {
	t.Run("memory", func(t *testing.T) { test(t, kv.NewMemory()) })
	t.Run("bolt", func(t *testing.T) { test(t, openBolt(t)) })
}

func openBolt(t *testing.T) *kv.Bolt {
	t.Helper()
	engine, err := kv.OpenBolt(t.TempDir() + "/kv.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

// tester is a *testing.T, a *testing.B or a *rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
}

func update(t tester, engine kv.Engine, fn func(tx kv.Tx)) {
	t.Helper()
	err := engine.Update(func(tx kv.Tx) error { fn(tx); return nil })
	if err != nil {
		t.Fatal(err)
	}
}

func view(t tester, engine kv.Engine, fn func(tx kv.Tx)) {
	t.Helper()
	err := engine.View(func(tx kv.Tx) error { fn(tx); return nil })
	if err != nil {
		t.Fatal(err)
	}
}

// contents lists a space as "key=value", in the order of the walk.
func contents(walk func(space string, from []byte, visit func(key, value []byte) bool), space, from string) []string {
	var start []byte
	if from != "" {
		start = []byte(from)
	}
	list := []string{}
	walk(space, start, func(key, value []byte) bool {
		list = append(list, string(key)+"="+string(value))
		return true
	})
	return list
}

func TestWhatWasPutIsRead(t *testing.T) {
	onEngines(t, func(t *testing.T, engine kv.Engine) {
		update(t, engine, func(tx kv.Tx) {
			tx.Put("one", []byte("a"), []byte("1"))
			tx.Put("one", []byte("empty"), nil)
			tx.Put("two", []byte("a"), []byte("2"))
			if got := tx.Get("one", []byte("empty")); got == nil || len(got) != 0 {
				t.Errorf("an empty value reads as %v within its transaction", got)
			}
		})
		view(t, engine, func(tx kv.Tx) {
			for _, row := range []struct {
				space, key string
				want       []byte
			}{{"one", "a", []byte("1")}, {"two", "a", []byte("2")}, {"one", "empty", []byte{}}, {"one", "b", nil}, {"three", "a", nil}} {
				got := tx.Get(row.space, []byte(row.key))
				if (got == nil) != (row.want == nil) || string(got) != string(row.want) {
					t.Errorf("%s/%s reads %q, want %q", row.space, row.key, got, row.want)
				}
			}
		})
	})
}

func TestWalksStartWhereTheyAreTold(t *testing.T) {
	onEngines(t, func(t *testing.T, engine kv.Engine) {
		update(t, engine, func(tx kv.Tx) {
			for _, key := range []string{"d", "b", "\xff", "bb", "b\x00"} {
				tx.Put("s", []byte(key), []byte{})
			}
		})
		view(t, engine, func(tx kv.Tx) {
			for name, row := range map[string]struct{ got, want []string }{
				"upwards from the start":        {contents(tx.Ascend, "s", ""), []string{"b=", "b\x00=", "bb=", "d=", "\xff="}},
				"upwards from a key":            {contents(tx.Ascend, "s", "bb"), []string{"bb=", "d=", "\xff="}},
				"upwards from between":          {contents(tx.Ascend, "s", "c"), []string{"d=", "\xff="}},
				"upwards from beyond":           {contents(tx.Ascend, "s", "\xff\xff"), []string{}},
				"downwards from the end":        {contents(tx.Descend, "s", ""), []string{"\xff=", "d=", "bb=", "b\x00=", "b="}},
				"downwards from a key":          {contents(tx.Descend, "s", "bb"), []string{"bb=", "b\x00=", "b="}},
				"downwards from between":        {contents(tx.Descend, "s", "c"), []string{"bb=", "b\x00=", "b="}},
				"downwards from before":         {contents(tx.Descend, "s", "a"), []string{}},
				"downwards from beyond":         {contents(tx.Descend, "s", "\xff\xff"), []string{"\xff=", "d=", "bb=", "b\x00=", "b="}},
				"a space that was never filled": {contents(tx.Ascend, "x", ""), []string{}},
			} {
				if !slices.Equal(row.got, row.want) {
					t.Errorf("%s: %q, want %q", name, row.got, row.want)
				}
			}
		})
	})
}

func TestAViewMayNotWrite(t *testing.T) {
	onEngines(t, func(t *testing.T, engine kv.Engine) {
		for name, write := range map[string]func(kv.Tx){
			"Put":    func(tx kv.Tx) { tx.Put("s", []byte("k"), nil) },
			"Delete": func(tx kv.Tx) { tx.Delete("s", []byte("k")) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s inside a View did not panic", name)
					}
				}()
				view(t, engine, write)
			}()
		}
	})
}

var errRefused = errors.New("refused")

// A failed or panicking Update leaves no trace, and the engine goes on.
func TestAFailedUpdateLeavesNoTrace(t *testing.T) {
	onEngines(t, func(t *testing.T, engine kv.Engine) {
		update(t, engine, func(tx kv.Tx) { tx.Put("s", []byte("a"), []byte("1")) })
		spoil := func(tx kv.Tx) {
			tx.Put("s", []byte("a"), []byte("2"))
			tx.Delete("s", []byte("a"))
			tx.Put("s", []byte("b"), []byte("3"))
			tx.Put("new", []byte("c"), []byte("4"))
		}
		if err := engine.Update(func(tx kv.Tx) error { spoil(tx); return errRefused }); !errors.Is(err, errRefused) {
			t.Errorf("Update returned %v", err)
		}
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic did not reach the caller")
				}
			}()
			_ = engine.Update(func(tx kv.Tx) error { spoil(tx); panic("boom") })
		}()
		view(t, engine, func(tx kv.Tx) {
			if got := contents(tx.Ascend, "s", ""); !slices.Equal(got, []string{"a=1"}) {
				t.Errorf("the space holds %q", got)
			}
			if got := contents(tx.Ascend, "new", ""); len(got) != 0 {
				t.Errorf("the new space holds %q", got)
			}
		})
	})
}

// Any sequence of transactions, kept and refused, leaves what a map would hold.
func TestEnginesAgreeWithAMap(t *testing.T) {
	onEngines(t, func(t *testing.T, engine kv.Engine) {
		n := 0
		rapid.Check(t, func(t *rapid.T) {
			n++
			space := "space" + string(rune('a'+n%26)) + string(rune('a'+n/26%26))
			update(t, engine, func(tx kv.Tx) {
				for _, key := range keysOf(tx, space) {
					tx.Delete(space, []byte(key))
				}
			})
			model := map[string]string{}
			for range rapid.IntRange(1, 6).Draw(t, "transactions") {
				runRandomly(t, engine, space, model)
				view(t, engine, func(tx kv.Tx) { compare(t, tx, space, model) })
			}
		})
	})
}

func keysOf(tx kv.Tx, space string) (keys []string) {
	tx.Ascend(space, nil, func(key, _ []byte) bool {
		keys = append(keys, string(key))
		return true
	})
	return keys
}

func runRandomly(t *rapid.T, engine kv.Engine, space string, model map[string]string) {
	next := maps.Clone(model)
	refuse := rapid.Bool().Draw(t, "refuse")
	key := rapid.SampledFrom([]string{"a", "aa", "b", "\x00", "\xff"})
	_ = engine.Update(func(tx kv.Tx) error {
		for range rapid.IntRange(0, 8).Draw(t, "writes") {
			k := key.Draw(t, "key")
			if rapid.Bool().Draw(t, "delete") {
				tx.Delete(space, []byte(k))
				delete(next, k)
				continue
			}
			value := rapid.SampledFrom([]string{"", "x", "yy"}).Draw(t, "value")
			tx.Put(space, []byte(k), []byte(value))
			next[k] = value
		}
		compare(t, tx, space, next)
		if refuse {
			return errRefused
		}
		return nil
	})
	if !refuse {
		clear(model)
		maps.Copy(model, next)
	}
}

func compare(t *rapid.T, tx kv.Tx, space string, model map[string]string) {
	want := []string{}
	for _, key := range slices.Sorted(maps.Keys(model)) {
		want = append(want, key+"="+model[key])
	}
	if got := contents(tx.Ascend, space, ""); !slices.Equal(got, want) {
		t.Fatalf("upwards %q, want %q", got, want)
	}
	slices.Reverse(want)
	if got := contents(tx.Descend, space, ""); !slices.Equal(got, want) {
		t.Fatalf("downwards %q, want %q", got, want)
	}
}
