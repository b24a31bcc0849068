package sim_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

func queueURL(t *testing.T, w *sim.World, name string) (*sqs.Client, *string) {
	t.Helper()
	client := sqs.NewFromConfig(w.Backend.Config())
	out, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
	if err != nil {
		t.Fatal(err)
	}
	return client, out.QueueUrl
}

// Somebody purges the work queue, twice: the look-back of later advances, and
// the wake-ups of manual runs, bring back what was in it.
func TestAPurgedQueueLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		w := world(t, sim.Options{Work: flaky})
		w.StartCrowd(t.Context(), 2, 1)
		ref := put(t, w, job.Definition{Job: "often", Schedule: job.Schedule{Every: job.Duration(20 * time.Second)}})
		var manual []job.Key
		for range 2 {
			time.Sleep(10*time.Minute + 30*time.Second)
			e, err := w.Control.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"})
			if err != nil {
				t.Fatal(err)
			}
			manual = append(manual, e.Key)
			client, url := queueURL(t, w, "belfry-fast-io")
			if _, err := client.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: url}); err != nil {
				t.Fatal(err)
			}
		}
		upto := time.Now().Add(5 * time.Minute)
		time.Sleep(45 * time.Minute)
		w.Stop()
		if err := w.Check(t.Context(), ref, begun, upto); err != nil {
			t.Errorf("%.1500v", err)
		}
		if lag, _ := startLag(w, begun, upto); lag < 10*time.Minute {
			t.Errorf("the purges took nothing: the latest start was %s late", lag)
		}
		for _, key := range manual {
			if e, err := w.Control.Store.Execution(t.Context(), ref, key); err != nil || e.Status != job.Succeeded {
				t.Errorf("the manual run ended as %+v, %v", e, err)
			}
		}
	})
}

// Every message that is received a second time goes to the dead-letter queue,
// for half an hour: nothing is lost, and nothing that began ends for that reason.
func TestADeadLetterStormLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		w := world(t, sim.Options{Work: slowAndFlaky})
		storm := func(receives string) {
			for _, name := range []string{"belfry-fast-io", "belfry-fast-io-isolation"} {
				client, url := queueURL(t, w, name)
				policy := `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:belfry-fast-io-dlq","maxReceiveCount":` + receives + `}`
				if _, err := client.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: url, Attributes: map[string]string{"RedrivePolicy": policy}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		storm("1")
		w.StartCrowd(t.Context(), 2, 1)
		refs := []job.Ref{put(t, w, job.Definition{Job: "often", Schedule: job.Schedule{Every: job.Duration(20 * time.Second)}}),
			put(t, w, job.Definition{Job: "minutely", Schedule: job.Schedule{Cron: "* * * * *"}})}
		time.Sleep(30 * time.Minute)
		storm("50")
		time.Sleep(10 * time.Minute)
		upto := time.Now()
		pauseAll(t, w, refs)
		time.Sleep(15 * time.Minute)
		w.Stop()
		woken := false
		for _, ref := range refs {
			if err := w.Check(t.Context(), ref, begun, upto); err != nil {
				t.Errorf("%s: %.1500v", ref, err)
			}
			stored, err := w.Stored(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range stored {
				woken = woken || e.Wake.Version > 0
				if e.Status == job.Dead || e.Range != nil && e.Reason == lifecycle.Misfire {
					t.Errorf("%s ended %s/%s", e.ID(), e.Status, e.Reason)
				}
			}
		}
		if !woken {
			t.Error("nothing came to the dead-letter queue")
		}
		judgeRest(t, w)
	})
}

// Two edits a second for a minute, by two people: each is acknowledged or refused
// as a conflict, the epoch counts them all, and afterwards the last one's times run.
func TestAnEditStormLeavesTheLastRevisionRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{Work: flaky})
		w.StartCrowd(t.Context(), 2, 1)
		d := job.Definition{Job: "job", Schedule: job.Schedule{Every: job.Duration(10 * time.Second)}}
		ref := put(t, w, d)
		time.Sleep(3 * time.Minute)
		var people sync.WaitGroup
		for person := range 2 {
			people.Go(func() {
				for n := range 60 {
					edited := d
					edited.Description = fmt.Sprint("edit ", n, " of ", person)
					edited.Schedule.Every = job.Duration(time.Duration(5+n%7) * time.Second)
					if _, err := w.Control.Control.Put(t.Context(), putOf(ref, edited)); err != nil && !errors.Is(err, job.ErrLost) {
						t.Error(err)
					}
					time.Sleep(time.Second)
				}
			})
		}
		people.Wait()
		from := time.Now()
		time.Sleep(20 * time.Minute)
		upto := time.Now()
		pauseAll(t, w, []job.Ref{ref})
		time.Sleep(10 * time.Minute)
		w.Stop()
		if err := w.Check(t.Context(), ref, from, upto); err != nil {
			t.Errorf("%.1500v", err)
		}
		head, err := w.Control.Store.Head(t.Context(), ref)
		if err != nil || head.Revision != 121 || head.Epoch != 122 {
			t.Errorf("after 120 edits and a pause the job is at revision %d and epoch %d", head.Revision, head.Epoch)
		}
		if lag, of := startLag(w, from, upto); lag > time.Second {
			t.Errorf("%s began %s late", of, lag)
		}
		judgeRest(t, w)
	})
}

// A job is deleted and made again under its name, over and over, at moments that
// wander through its period: no life runs the times of another.
func TestLivesOfOneNameNeverMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{Work: slowAndFlaky})
		w.StartCrowd(t.Context(), 2, 1)
		ref := job.Ref{Tenant: job.DefaultTenant, Job: "job"}
		type span struct{ from, to time.Time }
		var lives []span
		for n := range 60 {
			d := job.Definition{Job: "job", Schedule: job.Schedule{Every: job.Duration(time.Duration(3+n%5) * time.Second)}, Description: fmt.Sprint("life ", n)}
			put(t, w, d)
			from := time.Now()
			time.Sleep(time.Duration(7000+937*n%11000) * time.Millisecond)
			if _, err := w.Control.Control.Delete(t.Context(), ref, "test", 0); err != nil {
				t.Fatal(err)
			}
			lives = append(lives, span{from, time.Now()})
			time.Sleep(time.Duration(n%4) * time.Second)
		}
		time.Sleep(15 * time.Minute)
		w.Stop()
		for _, run := range w.Runs() {
			_, _, revision, err := job.ParseID(run.ID)
			if err != nil {
				t.Fatal(err)
			}
			if life := lives[revision-1]; run.Attempt == 1 && (run.At.Before(life.from) || run.At.After(life.to)) {
				t.Errorf("%s began at %s, and its job lived from %s to %s", run.ID, run.At, life.from, life.to)
			}
		}
		if err := w.CheckChanges(t.Context()); err != nil {
			t.Errorf("%.1500v", err)
		}
		judgeRest(t, w)
	})
}

// 3 000 one-off jobs of one second on one shard: all begin soon after it.
func TestThreeThousandJobsOfOneSecondOnOneShard(t *testing.T) {
	jobs := 3000
	if testing.Short() {
		jobs = 600
	}
	synctest.Test(t, func(t *testing.T) {
		pools := dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: time.Hour, Slots: 256, Batch: 10}}
		w := world(t, sim.Options{Shards: 1, Pools: pools, Workers: 4})
		w.StartCrowd(t.Context(), 2, 1)
		at := time.Now().Add(20 * time.Minute)
		for n := range jobs {
			put(t, w, job.Definition{Job: fmt.Sprint("once-", n), Schedule: job.Schedule{At: at}})
		}
		time.Sleep(time.Until(at) + 5*time.Minute)
		w.Stop()
		if n := len(w.Runs()); n != jobs {
			t.Errorf("%d attempts of %d jobs", n, jobs)
		}
		if lag, of := startLag(w, at.Add(-time.Second), at); lag > 3*time.Second {
			t.Errorf("%s began %s late", of, lag)
		} else {
			t.Logf("the last of %d began %s late", jobs, lag)
		}
		judgeRest(t, w)
	})
}
