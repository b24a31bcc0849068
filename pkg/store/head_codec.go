package store

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// headChange collects the update of a head: what is set, what is removed.
type headChange struct {
	set    item
	remove []string
}

func (c *headChange) put(name string, present bool, value types.AttributeValue) {
	if present {
		c.set[name] = value
	} else {
		c.remove = append(c.remove, name)
	}
}

func (c *headChange) text(name, v string)              { c.put(name, v != "", text(v)) }
func (c *headChange) millis(name string, t time.Time)  { c.put(name, !t.IsZero(), millis(t)) }
func (c *headChange) seconds(name string, t time.Time) { c.put(name, !t.IsZero(), seconds(t)) }

// encodeHead is every attribute of a head, the keys aside.
func encodeHead(h *job.Head, dueShard types.AttributeValue) headChange {
	c := headChange{set: item{
		"schema": number(job.Schema), "state": text(string(h.State)), "revision": number(int64(h.Revision)), "epoch": number(h.Epoch),
		"runs_from": number(h.RunsFrom), "schedule": document(h.Schedule), "misfire": document(h.Misfire), "advances": number(h.Advances),
		"tenant_shard": text(tenantShard(h.Ref)), "job": text(h.Job),
	}}
	c.text("pool", h.Pool)
	c.text("type", h.Type)
	c.text("target", h.Target)
	c.put("suspend_after", h.Suspend > 0, number(int64(h.Suspend)))
	c.text("changed_by", h.ChangedBy)
	c.text("reason", string(h.Reason))
	c.seconds("anchor", h.Anchor)
	c.put("lost_revision", h.LostRevision > 0, number(int64(h.LostRevision)))
	c.millis("stopped_at", h.StoppedAt)
	c.seconds("switch_at", h.SwitchAt)
	c.seconds("switched_at", h.SwitchedAt)
	c.millis("purged_at", h.PurgedAt)
	c.put("waits", len(h.Waits) > 0 && !h.SwitchAt.IsZero(), document(h.Waits))
	c.millis("created_at", h.CreatedAt)
	c.millis("updated_at", h.UpdatedAt)
	c.seconds("next_fire_at", h.NextFireAt)
	c.seconds("last_scheduled", h.LastScheduled)
	c.seconds("settled_upto", h.SettledUpto)
	c.put("due_shard", !h.NextFireAt.IsZero(), dueShard)
	c.put("plan", h.Plan != nil, document(h.Plan))
	c.put("gap", h.Gap != nil, document(h.Gap))
	return c
}

func decodeHead(stored item) (*job.Head, error) {
	r := &reader{item: stored}
	h := &job.Head{
		Ref: refOf(r.text(PartitionKey)), State: job.State(r.text("state")), Revision: int(r.number("revision")), Epoch: r.number("epoch"),
		RunsFrom: r.number("runs_from"), Anchor: r.seconds("anchor"), Pool: r.text("pool"), Type: r.text("type"), Target: r.text("target"), CreatedAt: r.millis("created_at"),
		UpdatedAt: r.millis("updated_at"), ChangedBy: r.text("changed_by"), Reason: job.Reason(r.text("reason")),
		NextFireAt: r.seconds("next_fire_at"), LastScheduled: r.seconds("last_scheduled"), SettledUpto: r.seconds("settled_upto"),
		Advances: r.number("advances"), DueShard: r.text("due_shard"), LostRevision: int(r.number("lost_revision")), StoppedAt: r.millis("stopped_at"), PurgedAt: r.millis("purged_at"), SwitchAt: r.seconds("switch_at"), SwitchedAt: r.seconds("switched_at"), Suspend: int(r.number("suspend_after")), Schema: int(r.number("schema")),
	}
	r.document("schedule", &h.Schedule)
	r.document("misfire", &h.Misfire)
	r.document("waits", &h.Waits)
	var plan job.LatePlan
	if r.document("plan", &plan) {
		h.Plan = &plan
	}
	var gap job.Gap
	if r.document("gap", &gap) {
		h.Gap = &gap
	}
	return h, r.err
}
