package localawstest

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// History runs workers side by side, each with calls that it draws, and notes what
// each call was answered and when it began and ended. A call that fails, rather than
// being refused, fails the test and ends its worker.
func History[Call, Result any](t *testing.T, workers, calls int, draw func(*rand.Rand) Call, perform func(Call) (Result, error)) (all []porcupine.Operation) {
	t.Helper()
	var group sync.WaitGroup
	var mu sync.Mutex
	start := time.Now()
	for worker := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			for range calls {
				call := draw(random)
				began := time.Since(start)
				result, err := perform(call)
				ended := time.Since(start)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				all = append(all, porcupine.Operation{ClientId: worker, Input: call, Call: int64(began), Output: result, Return: int64(ended)})
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return all
}

// ByKey parts a history by the key of its calls, for calls of one key say nothing of
// another's.
func ByKey[Call any](key func(Call) string) func([]porcupine.Operation) [][]porcupine.Operation {
	return func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, operation := range history {
			at := key(operation.Input.(Call))
			byKey[at] = append(byKey[at], operation)
		}
		parts := make([][]porcupine.Operation, 0, len(byKey))
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	}
}
