package workertest

import (
	"context"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// platform does what EventBridge and the functions behind the scan queue do: each
// minute schedules are looked at, and waits of more than a quarter of an hour end.
func (b *Bench) platform() {
	ctx, stop := context.WithCancel(b.ctx)
	b.stop = stop
	b.running.Go(func() {
		for (clock.System{}).Wait(ctx, b.Now().Truncate(time.Minute).Add(time.Minute)) == nil {
			_, _ = b.planes.Trigger.Tick(ctx) // a failed tick is made good by the next
		}
	})
	b.running.Go(func() {
		scans := b.planes.Queues.Queue(b.planes.Queues.Names.Scan())
		for ctx.Err() == nil {
			messages, err := scans.Receive(ctx, 10, 20*time.Second, time.Minute)
			if err != nil {
				return
			}
			for _, m := range messages {
				b.scan(ctx, scans, m)
			}
		}
	})
}

func (b *Bench) scan(ctx context.Context, scans *queue.Queue, m queue.Received) {
	scan, err := queue.OpenScan(m.Body)
	if err != nil {
		return
	}
	if b.planes.Trigger.Scan(ctx, job.ShardRange{Generation: scan.Generation, From: scan.From, To: scan.To + 1}, scan.SentAt) == nil {
		_ = scans.Delete(ctx, m.Handle) // else it is scanned twice
	}
}
