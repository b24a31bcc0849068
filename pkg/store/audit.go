package store

import (
	"fmt"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// AuditPrefix begins the partitions of audit entries in the control table.
const AuditPrefix = "AUDIT#"

func (s *Store) auditItem(c job.HeadChange) item {
	audit := key(AuditPrefix+c.New.Ref.String(), fmt.Sprintf("%013d#%d", c.At.UnixMilli(), c.New.Epoch))
	audit["verb"] = text(c.Verb)
	audit["actor"] = text(c.Actor)
	audit["epoch"] = number(c.New.Epoch)
	audit["revision"] = number(int64(c.New.Revision))
	audit["at"] = millis(c.At)
	audit[TTLAttribute] = seconds(s.farExpiry(c.At))
	return audit
}

// auditEntry is the audit entry of a verb that leaves the head as it is; mark tells
// entries of one job, moment and epoch apart.
func (s *Store) auditEntry(a job.Audit, mark string) item {
	entry := key(AuditPrefix+a.Ref.String(), fmt.Sprintf("%013d#%d#%s", a.At.UnixMilli(), a.Epoch, mark))
	entry["verb"], entry["actor"], entry["epoch"], entry["revision"] = text(a.Verb), text(a.Actor), number(a.Epoch), number(int64(a.Revision))
	entry["at"], entry[TTLAttribute] = millis(a.At), seconds(s.farExpiry(a.At))
	for name, given := range map[string]string{"execution": a.Execution, "note": a.Note} {
		if given != "" {
			entry[name] = text(given)
		}
	}
	return entry
}

// DecodeAudit reads an audit entry from an image of the control table's stream.
// An item that is none, or whose verb is missing, is an error.
func DecodeAudit(image item) (*job.Audit, error) {
	r := &reader{item: image}
	of, is := strings.CutPrefix(r.text(PartitionKey), AuditPrefix)
	if !is || r.text("verb") == "" || r.millis("at").IsZero() {
		return nil, fmt.Errorf("item %q is no audit entry", job.Shorten(r.text(PartitionKey)))
	}
	return &job.Audit{At: r.millis("at"), Ref: refOf(of), Verb: r.text("verb"), Actor: r.text("actor"), Epoch: r.number("epoch"),
		Revision: int(r.number("revision")), Execution: r.text("execution"), Note: r.text("note")}, nil
}
