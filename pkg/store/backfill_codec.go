package store

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// backfillMark begins the sort keys of a job's backfills.
const backfillMark = "BACKFILL#"

func backfillKey(id string) string { return backfillMark + id }

// encodeBackfill is every attribute of a backfill, the keys aside.
func encodeBackfill(b *job.Backfill, dueShard types.AttributeValue) headChange {
	c := headChange{set: item{
		"schema": number(job.Schema), "state": text(string(b.State)), "range_from": seconds(b.From), "range_to": seconds(b.To), "total": number(int64(b.Total)),
		"revision": number(int64(b.Revision)), "rate": text(strconv.FormatFloat(b.Rate, 'g', -1, 64)), "reason": text(string(b.Reason)),
		"made": number(int64(b.Made)), "skipped": number(int64(b.Skipped)), "step": number(b.Step), "created_at": millis(b.CreatedAt),
	}}
	c.put("rerun", b.Rerun, &types.AttributeValueMemberBOOL{Value: true})
	c.put("kept_s", b.Kept > 0, number(int64(b.Kept.Std().Seconds())))
	c.text("actor", b.Actor)
	c.seconds("range_cursor", b.Cursor)
	c.seconds("settled_upto", b.Settled)
	c.millis("paced_at", b.Paced)
	c.millis("looked_back_at", b.LookedBack)
	c.millis("done_at", b.DoneAt)
	c.text("end_reason", string(b.EndReason))
	c.text("ended_by", b.EndedBy)
	running := b.State == job.BackfillRunning
	c.put("next_fire_at", running, seconds(b.NextFireAt))
	c.put("due_shard", running, dueShard)
	return c
}

func decodeBackfill(stored item) *job.Backfill {
	r := &reader{item: stored}
	rate, err := strconv.ParseFloat(r.text("rate"), 64)
	if err != nil || rate <= 0 {
		rate = job.DefaultBackfillRate
	}
	_, rerun := stored["rerun"]
	return &job.Backfill{
		Ref: refOf(r.text(PartitionKey)), ID: strings.TrimPrefix(r.text(SortKey), backfillMark), State: job.BackfillState(r.text("state")),
		From: r.seconds("range_from"), To: r.seconds("range_to"), Total: int(r.number("total")), Revision: int(r.number("revision")), Rate: rate, Rerun: rerun,
		Reason: job.Reason(r.text("reason")), Actor: r.text("actor"), Kept: job.Duration(r.number("kept_s") * 1e9),
		Cursor: r.seconds("range_cursor"), Settled: r.seconds("settled_upto"), Paced: r.millis("paced_at"), LookedBack: r.millis("looked_back_at"),
		Made: int(r.number("made")), Skipped: int(r.number("skipped")), Step: r.number("step"), CreatedAt: r.millis("created_at"), DoneAt: r.millis("done_at"),
		EndReason: job.Reason(r.text("end_reason")), EndedBy: r.text("ended_by"), NextFireAt: r.seconds("next_fire_at"), Schema: int(r.number("schema")),
	}
}
