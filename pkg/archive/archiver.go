package archive

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// Objects is where objects are kept; *bucket.Bucket satisfies it.
type Objects interface {
	// Put stores an object. One of that name that is there already stays, and
	// that is no error. The content is the caller's again when it returns.
	Put(ctx context.Context, name string, content []byte) error
}

const (
	// parallel is how many objects are packed and stored at a time, and so how
	// many of them are in memory.
	parallel = 8
	// mostRefused is after how many refusals the rest of a batch is not tried: it
	// is not the objects then, and the batch comes again anyhow.
	mostRefused = 8
)

// errNotTried stands for the objects that were not tried.
var errNotTried = errors.New("not tried, since too many others were refused")

// Archiver consumes the streams of the executions and the control table.
// Objects is required.
type Archiver struct {
	Objects Objects
	Log     *slog.Logger     // nil: silent
	Metrics *observe.Emitter // nil: off
}

// Handle archives a batch. When an object could not be stored, the first record
// is reported, so that the platform delivers the same batch again, which makes
// objects of the same names: no row is lost, and none is stored twice. Figures are
// told of what will not come again. The error is always nil.
func (a *Archiver) Handle(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	rows := Rows(e)
	objects := Cut(rows)
	refused, err := a.store(ctx, objects)
	if err == nil {
		a.tellUnread(rows)
		return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}, nil
	}
	from := e.Records[0].Change.SequenceNumber
	a.log().Warn("objects not stored; the batch is read again", slog.Int("records", len(e.Records)), slog.Int("objects", len(objects)),
		slog.Int("refused", refused), slog.String("from", from), slog.Any("error", err))
	return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{{ItemIdentifier: from}}}, nil
}

// store stores all objects, whatever becomes of one, and returns how many were
// not stored, with the first's error.
func (a *Archiver) store(ctx context.Context, objects []Object) (refused int, err error) {
	errs := make([]error, len(objects))
	presses := make(chan *press, parallel)
	for range parallel {
		presses <- nil // made when it is needed
	}
	var failures atomic.Int32
	var all errgroup.Group
	all.SetLimit(parallel)
	for i := range objects {
		all.Go(func() error {
			if failures.Load() >= mostRefused {
				errs[i] = errNotTried
				return nil
			}
			p := <-presses
			if p == nil {
				p = newPress()
			}
			if errs[i] = a.storeOne(ctx, p, objects[i]); errs[i] != nil {
				failures.Add(1)
			}
			presses <- p
			return nil
		})
	}
	_ = all.Wait() // kept in errs, so that no object stops another
	return causeOf(errs)
}

// causeOf counts the errors and returns the first of an object that was tried:
// objects are tried side by side, so one before it may not have been.
func causeOf(errs []error) (refused int, err error) {
	for _, one := range errs {
		if one != nil {
			refused++
			if err == nil || errors.Is(err, errNotTried) {
				err = one
			}
		}
	}
	return refused, err
}

func (a *Archiver) storeOne(ctx context.Context, p *press, o Object) error {
	content, err := p.pack(o)
	if err != nil {
		return err
	}
	return a.Objects.Put(ctx, o.Name(), content)
}

// tellUnread says that records of a batch that is stored did not read.
func (a *Archiver) tellUnread(rows []Row) {
	count, first := 0, ""
	for _, r := range rows {
		if r.Kind == Unread {
			if count == 0 {
				first = r.ID
			}
			count++
		}
	}
	if count > 0 {
		figures := a.Metrics.Batch()
		defer figures.Flush()
		figures.Count(observe.ArchiveUnread, observe.Labels{}, count)
		a.log().Error("records kept as they came: they do not read", slog.Int("records", count), slog.String("first", first))
	}
}

func (a *Archiver) log() *slog.Logger {
	if a.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return a.Log
}
