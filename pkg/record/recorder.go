package record

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// Lists is where the notes are written; *store.Store satisfies it. Writing the
// same again must change nothing.
type Lists interface {
	// WriteRecent adds a page to a tenant's recent list.
	WriteRecent(ctx context.Context, p store.RecentPage) error
	// WriteAttention adds an execution to the list of those that need a person.
	WriteAttention(ctx context.Context, e *job.Execution, at time.Time) error
	// WriteHistory keeps an entry that fell out of an execution's timeline.
	WriteHistory(ctx context.Context, e *job.Execution, place int, entry job.Entry) error
}

// parallel is how many items are written at a time.
const parallel = 16

// Recorder consumes the stream of the executions table. Lists is required.
type Recorder struct {
	Lists   Lists
	Log     *slog.Logger     // nil: silent
	Metrics *observe.Emitter // nil: off
}

// Handle writes what a batch leaves to write. Records that cannot be read are
// logged and passed over; where an item could not be written, the first record
// that it tells of is reported, and the platform delivers again from there on.
// Figures are told of the records that will not come again. The error is always
// nil.
func (r *Recorder) Handle(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	changes, err := Read(e)
	if err != nil {
		r.log().Error("records passed over in part: they do not read", slog.Any("error", err))
	}
	notes := Gather(changes)
	failed, err := r.write(ctx, notes)
	figures := r.Metrics.Batch()
	defer figures.Flush()
	if err == nil {
		Measure(changes, figures)
		return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}, nil
	}
	Measure(changes[:failed], figures)
	from := e.Records[failed].Change.SequenceNumber
	r.log().Warn("lists not written; the stream is read again", slog.Int("records", len(e.Records)), slog.Int("items", len(notes)),
		slog.String("from", from), slog.Any("error", err))
	return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{{ItemIdentifier: from}}}, nil
}

// write writes all notes, whatever becomes of one, and returns the first change
// whose note failed, with that error.
func (r *Recorder) write(ctx context.Context, notes []Note) (failed int, err error) {
	errs := make([]error, len(notes))
	var all errgroup.Group
	all.SetLimit(parallel)
	for i := range notes {
		all.Go(func() error {
			errs[i] = r.writeOne(ctx, notes[i])
			return nil
		})
	}
	_ = all.Wait() // kept in errs, so that no item stops another
	for i, one := range errs {
		if one != nil && (err == nil || notes[i].First < failed) {
			failed, err = notes[i].First, one
		}
	}
	return failed, err
}

func (r *Recorder) writeOne(ctx context.Context, n Note) error {
	switch {
	case n.Recent != nil:
		return r.Lists.WriteRecent(ctx, *n.Recent)
	case n.Attention != nil:
		return r.Lists.WriteAttention(ctx, n.Attention.Execution, n.Attention.At)
	default:
		return r.Lists.WriteHistory(ctx, n.History.Execution, n.History.Place, n.History.Entry)
	}
}

func (r *Recorder) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}
