// Package workertest tests handlers without AWS.
//
// Attempt makes what a handler is called with, for a test of the handler alone: no
// queue, no table, no clock.
//
//	a := workertest.Attempt(workertest.Facts{Payload: `{"item":"tea"}`})
//	err := orders(ctx, a)
//	worker.FailureOf(err) // how it would be retried
//
// Test gives a whole installation in memory, on which handlers run as they will in
// production: the same planes, on the local backend, so retries, back-off, takeover,
// confirm, checkpoints, cancel and drain are the real ones. Its time is virtual
// (testing/synctest): it stands still while anything runs and jumps when everything
// waits, so that a back-off of five minutes takes no time, and a test can move it
// with Advance.
//
//	workertest.Test(t, register, func(t *testing.T, b *workertest.Bench) {
//		run := b.Run("charge", order)
//		if run.Status != job.Succeeded || len(run.Attempts) != 2 {
//			t.Error(run)
//		}
//	})
//
// Handlers on a bench must not wait for what is outside of it: a socket, another
// process, a lock that a goroutine of another test holds.
//
// What it must never do: decide anything itself. What a bench tells of an execution
// is read from the table, and what it tells of attempts is what the table has taken.
package workertest
