package dynamo

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

// Bounds of a transaction.
const (
	maxTransaction      = 100
	maxTransactionBytes = 4 << 20
)

// transaction is TransactWriteItems' body.
type transaction struct {
	items    []*request
	token    string
	capacity capacityMode
}

func (s *Service) transactWriteItems(body []byte) ([]byte, error) {
	in, err := decodeTransaction(body)
	if err != nil {
		return nil, err
	}
	writes := make([]*write, len(in.items))
	for i, item := range in.items {
		if writes[i], err = s.bindWrite(item); err != nil {
			return nil, err
		}
	}
	b := &bill{operation: "TransactWriteItems", write: true, explicit: true}
	err = s.engine.Update(func(tx kv.Tx) error {
		now := time.Now()
		known, err := recallToken(tx, in, now)
		if err != nil {
			return err
		}
		if known {
			b.write = false
			return s.billRepeat(tx, writes, b)
		}
		return s.transact(tx, writes, b, now)
	})
	s.report(b, err != nil)
	if err != nil {
		return nil, err
	}
	o := newObject()
	b.appendAll(o, in.capacity)
	return o.close(), nil
}

// transact decides every write before it carries any out.
func (s *Service) transact(tx kv.Tx, writes []*write, b *bill, now time.Time) error {
	plans := make([]*plan, len(writes))
	reasons := make([]error, len(writes))
	failed := false
	size := 0
	for i, w := range writes {
		p, err := w.plan(s, tx)
		if err == nil {
			if repeats(plans[:i], p) {
				return validation("Transaction request cannot include multiple operations on one item")
			}
			plans[i] = p
			err = w.decide(p)
			size += max(p.old.Size(), p.changed.Size())
		}
		if err = asFault(err); err != nil && !isReason(err) {
			return err
		}
		reasons[i] = err
		failed = failed || err != nil
	}
	if size > maxTransactionBytes {
		return validation("Transaction size exceeds the limit of 4 MB")
	}
	if failed {
		for _, p := range plans {
			if p != nil {
				b.onTable(p.table.Name, 2*writeUnits(p.old.Size()))
			}
		}
		return cancelled(reasons)
	}
	for _, p := range plans {
		if err := s.apply(tx, p, b, 2, byCaller, now); err != nil {
			return err
		}
	}
	return nil
}

func repeats(earlier []*plan, p *plan) bool {
	return slices.ContainsFunc(earlier, func(other *plan) bool {
		return other != nil && other.table.Name == p.table.Name && string(other.row) == string(p.row)
	})
}

// isReason: a refused condition or value cancels the transaction; anything
// else is an error of the call.
func isReason(err error) bool {
	var fault *wire.Fault
	return errors.As(err, &fault) && (fault.Code == "ConditionalCheckFailedException" || fault.Code == "ValidationException")
}

// reason is one entry of CancellationReasons.
type reason struct {
	Code    string
	Message string          `json:",omitempty"`
	Item    json.RawMessage `json:",omitempty"`
}

// cancelled is the fault that lists why, item by item.
func cancelled(errs []error) *wire.Fault {
	reasons := make([]reason, len(errs))
	codes := make([]string, len(errs))
	for i, err := range errs {
		reasons[i] = reason{Code: "None"}
		var fault *wire.Fault
		if errors.As(err, &fault) {
			reasons[i] = reason{Code: "ValidationError", Message: fault.Message}
			if fault.Code == "ConditionalCheckFailedException" {
				reasons[i].Code = "ConditionalCheckFailed"
			}
			if item, shown := fault.Extra["Item"].(json.RawMessage); shown {
				reasons[i].Item = item
			}
		}
		codes[i] = reasons[i].Code
	}
	fault := modelFault("TransactionCanceledException",
		"Transaction cancelled, please refer cancellation reasons for specific reasons ["+strings.Join(codes, ", ")+"]")
	fault.Extra = map[string]any{"CancellationReasons": reasons}
	return fault
}

func decodeTransaction(body []byte) (*transaction, error) {
	r, err := jsonread.New(string(body))
	if err != nil {
		return nil, err
	}
	in := &transaction{}
	err = r.Object(func(name string) (err error) {
		if r.Null() {
			return nil
		}
		switch name {
		case "TransactItems":
			return r.Array(func() error { return in.readItem(r) })
		case "ClientRequestToken":
			in.token, err = r.String()
		case "ReturnConsumedCapacity":
			in.capacity, err = readCapacityMode(r)
		case "ReturnItemCollectionMetrics":
			_, err = choice(r, "returnItemCollectionMetrics", "SIZE", "NONE")
		default:
			return notImplemented("TransactWriteItems does not implement the parameter %s", name)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(in.items) == 0:
		return nil, constraint("'[]'", "transactItems", "Member must have length greater than or equal to 1")
	case len(in.items) > maxTransaction:
		return nil, constraint("'["+formatInt(int64(len(in.items)))+" items]'", "transactItems", "Member must have length less than or equal to 100")
	case len(in.token) > 36:
		return nil, constraint("'"+in.token+"'", "clientRequestToken", "Member must have length less than or equal to 36")
	}
	return in, r.End()
}

func (in *transaction) readItem(r *jsonread.Reader) error {
	var only *request
	err := r.Object(func(name string) error {
		if r.Null() {
			return nil
		}
		if !slices.Contains([]string{"ConditionCheck", "Put", "Update", "Delete"}, name) {
			return notImplemented("TransactWriteItems does not implement the action %s", name)
		}
		if only != nil {
			return validation("TransactItems can only contain one of Check, Put, Update or Delete")
		}
		item, err := decodeFrom(name, r)
		if err != nil {
			return err
		}
		only = item
		return item.bindPlaceholders()
	})
	if err == nil && only == nil {
		err = validation("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
	}
	in.items = append(in.items, only)
	return err
}
