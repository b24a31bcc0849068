package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	// fanOutMark ends the sort key of what is known of an execution's children.
	fanOutMark = "#F"
	// pageKey is the sort key of a page's own item, beside its children.
	pageKey = "PAGE"
)

func fanOutKey(ref job.Ref, parent job.Key) item {
	return key(ref.String(), parent.String()+fanOutMark)
}

func pageItem(ref job.Ref, parent job.Key, page int) item {
	return key(job.PagePartition(ref, parent, page), pageKey)
}

func set(from, upto int, form string) types.AttributeValue {
	members := make([]string, 0, upto-from)
	for i := from; i < upto; i++ {
		members = append(members, fmt.Sprintf(form, i))
	}
	return &types.AttributeValueMemberSS{Value: members}
}

func one(n int, form string) types.AttributeValue {
	return &types.AttributeValueMemberSS{Value: []string{fmt.Sprintf(form, n)}}
}

// pageForm and childForm write places in sets.
const (
	pageForm  = "%04d"
	childForm = "%03d"
)

// StartFanOut notes that an execution has children, first on the execution and then
// in an item of their own, and returns what is there: what an earlier attempt asked
// for stays.
//
// Requires: RUNNING under this owner, nonce and token; nothing there yet. Writes:
// fanned_out on the execution; the item with every page open and none made.
// Loses when: somebody else took the execution over: job.ErrLost.
// Then the caller: stops. What is there already is compared by its digest.
func (s *Store) StartFanOut(ctx context.Context, held *job.Execution, f *job.FanOut) (*job.FanOut, error) {
	u := s.owned("mark fan-out", held)
	u.set = "SET fanned_out = :yes"
	u.values[":yes"] = number(1)
	if _, err := s.update(ctx, u); err != nil {
		return nil, err
	}
	values := item{":schema": number(job.Schema), ":revision": number(int64(f.Revision)), ":epoch": number(f.Epoch), ":total": number(int64(f.Total)), ":digest": text(f.Digest),
		":handler": text(f.Handler), ":reduce": text(f.Reduce), ":pool": text(f.Pool), ":type": text(f.Type), ":timeout": number(int64(f.Timeout)), ":retry": document(f.Retry),
		":most": number(int64(f.MaxFailed)), ":at": millis(f.CreatedAt), ":none": &types.AttributeValueMemberM{Value: item{}},
		":of": text(f.ReplayOf), ":expires": seconds(s.farExpiry(f.CreatedAt))}
	opened := ""
	if f.Total > 0 { // no set is empty
		opened, values[":open"] = "open_pages = :open, ", set(0, f.Pages(), pageForm)
	}
	_, err := s.update(ctx, update{operation: "start fan-out", table: s.tables.Executions, key: fanOutKey(f.Ref, f.Parent), condition: "attribute_not_exists(pk)",
		set: "SET " + opened + "#schema = :schema, revision = :revision, epoch = :epoch, children = :total, digest = :digest, handler_name = :handler, reduce_name = :reduce, " +
			"#pool = :pool, #type = :type, attempt_timeout = :timeout, retry_policy = :retry, most_failed = :most, created_at = :at, failed_on = :none, " +
			"replay_of = :of, " + TTLAttribute + " = :expires",
		names: map[string]string{"#schema": "schema", "#pool": "pool", "#type": "type"}, values: values})
	if err != nil && !errors.Is(err, job.ErrLost) {
		return nil, err
	}
	return s.FanOut(ctx, f.Ref, f.Parent)
}

// FanOut strongly reads what is known of an execution's children; nil when it has
// none.
func (s *Store) FanOut(ctx context.Context, ref job.Ref, parent job.Key) (*job.FanOut, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Executions), Key: fanOutKey(ref, parent),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, fault("read fan-out", err)
	}
	s.meter("read fan-out", out.ConsumedCapacity)
	return decodeFanOut(ref, parent, out.Item)
}

// OpenPage makes a page's own item, which names every child on it as open, before
// any of them is made.
//
// Requires: nothing there. Writes: the page. Loses when: it is there: an earlier
// attempt's, or our own write whose answer was lost. Then the caller: goes on.
func (s *Store) OpenPage(ctx context.Context, f *job.FanOut, page int) error {
	_, err := s.update(ctx, update{operation: "open page", table: s.tables.Executions, key: pageItem(f.Ref, f.Parent, page), condition: "attribute_not_exists(pk)",
		set:    "SET #schema = :schema, opened = :open, " + TTLAttribute + " = :expires",
		names:  map[string]string{"#schema": "schema"},
		values: item{":schema": number(job.Schema), ":open": set(0, f.OnPage(page), childForm), ":expires": seconds(s.farExpiry(f.CreatedAt))}})
	if errors.Is(err, job.ErrLost) {
		return nil
	}
	return err
}

// PageMade notes that the children of a page have been made and sent.
//
// Requires: the fan-out. Writes: the page among those made; twice is once.
// Loses when: it is gone: its retention is over. Then the caller: stops.
func (s *Store) PageMade(ctx context.Context, f *job.FanOut, page int) error {
	_, err := s.update(ctx, update{operation: "page made", table: s.tables.Executions, key: fanOutKey(f.Ref, f.Parent), condition: "attribute_exists(pk)",
		set: "ADD made :page", values: item{":page": one(page, pageForm)}})
	return err
}

// LeavePage takes a child that has ended off its page, and tells how many are open
// there and how many of it have failed.
//
// Requires: the page. Writes: one open child less, and one failed more; twice is once.
// Loses when: it is gone: its retention is over. Then the caller: is done.
func (s *Store) LeavePage(ctx context.Context, ref job.Ref, child job.Key, failed bool) (open, broken int, err error) {
	u := update{operation: "leave page", table: s.tables.Executions, key: pageItem(ref, child.Parent(), child.Page), condition: "attribute_exists(pk)",
		set: "DELETE opened :me", values: item{":me": one(child.Index, childForm)}, wantNew: true}
	if failed {
		u.set = "ADD broken :me " + u.set
	}
	written, err := s.update(ctx, u)
	return sizeOf(written["opened"]), sizeOf(written["broken"]), err
}

// TellFailed notes how many children of a page have failed so far, and returns the
// fan-out as it then is.
//
// Requires: the fan-out, and no higher number of that page. Writes: the number.
// Loses when: somebody told a higher one. Then the caller: goes by what is there.
func (s *Store) TellFailed(ctx context.Context, ref job.Ref, child job.Key, broken int) (*job.FanOut, error) {
	u := update{operation: "tell failed", table: s.tables.Executions, key: fanOutKey(ref, child.Parent()), wantNew: true,
		condition: "attribute_exists(pk) AND (attribute_not_exists(failed_on.#page) OR failed_on.#page < :broken)",
		set:       "SET failed_on.#page = :broken", names: map[string]string{"#page": fmt.Sprintf(pageForm, child.Page)}, values: item{":broken": number(int64(broken))}}
	written, err := s.update(ctx, u)
	if err != nil && !errors.Is(err, job.ErrLost) {
		return nil, err
	}
	return decodeFanOut(ref, child.Parent(), written)
}

// ClosePage takes a page whose children have all ended off the open ones, and
// returns the fan-out as it then is; nil when it is gone.
//
// Requires: the fan-out. Writes: one open page less; twice is once.
// Loses when: it is gone: its retention is over. Then the caller: is done.
func (s *Store) ClosePage(ctx context.Context, ref job.Ref, child job.Key) (*job.FanOut, error) {
	written, err := s.update(ctx, update{operation: "close page", table: s.tables.Executions, key: fanOutKey(ref, child.Parent()), wantNew: true, condition: "attribute_exists(pk)",
		set: "DELETE open_pages :page", values: item{":page": one(child.Page, pageForm)}})
	if errors.Is(err, job.ErrLost) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeFanOut(ref, child.Parent(), written)
}

// CancelFanOut raises the cancel flag for all children that have not ended. None
// begins an attempt from then on.
//
// Requires: the fan-out, and no flag yet. Writes: the flag.
// Loses when: it is canceled already, or there is none. Then the caller: is done.
func (s *Store) CancelFanOut(ctx context.Context, ref job.Ref, parent job.Key, c job.Cancel) error {
	_, err := s.update(ctx, update{operation: "cancel fan-out", table: s.tables.Executions, key: fanOutKey(ref, parent),
		condition: "attribute_exists(pk) AND attribute_not_exists(cancel)", set: "SET cancel = :cancel", values: item{":cancel": document(c)}})
	if errors.Is(err, job.ErrLost) {
		return nil
	}
	return err
}

// EndChildren cancels all children: those that run are told, all others never begin an
// attempt. It may be repeated. It returns the fan-out; nil when there is none.
func (s *Store) EndChildren(ctx context.Context, ref job.Ref, parent job.Key, c job.Cancel) (*job.FanOut, error) {
	if err := s.CancelFanOut(ctx, ref, parent, c); err != nil {
		return nil, err
	}
	f, err := s.FanOut(ctx, ref, parent)
	if err != nil || f == nil {
		return nil, err
	}
	for page := range f.Pages() {
		children, err := s.Children(ctx, ref, parent, page)
		if err != nil {
			return nil, err
		}
		for i := range children {
			if e := &children[i]; e.Status == job.Running && e.Cancel == nil {
				if err := s.RequestCancel(ctx, e, c); err != nil && !errors.Is(err, job.ErrLost) {
					return nil, err
				}
			}
		}
	}
	return f, nil
}

// Unfinished reports whether some of an execution's children have not left their
// pages, or what follows them is not made.
func (s *Store) Unfinished(ctx context.Context, ref job.Ref, parent job.Key) (bool, error) {
	f, err := s.FanOut(ctx, ref, parent)
	if err != nil || f == nil {
		return false, err
	}
	if f.OpenPages > 0 || f.Reduce == "" {
		return f.OpenPages > 0, nil
	}
	e, err := s.Execution(ctx, ref, job.ReduceKey(parent))
	return e == nil, err
}

// Children reads the children of one page, in order.
func (s *Store) Children(ctx context.Context, ref job.Ref, parent job.Key, page int) ([]job.Execution, error) {
	var all []job.Execution
	for start := item(nil); ; {
		out, err := s.db.Query(ctx, &dynamodb.QueryInput{TableName: aws.String(s.tables.Executions), ConsistentRead: aws.Bool(true), ExclusiveStartKey: start,
			KeyConditionExpression:    aws.String("pk = :page AND begins_with(sk, :parent)"),
			ExpressionAttributeValues: item{":page": text(job.PagePartition(ref, parent, page)), ":parent": text(parent.String() + "#")}, ReturnConsumedCapacity: s.capacity()})
		if err != nil {
			return nil, fault("read children", err)
		}
		s.meter("read children", out.ConsumedCapacity)
		for _, stored := range out.Items {
			if e, err := decodeExecution(stored); err != nil {
				return nil, err
			} else if e != nil {
				all = append(all, *e)
			}
		}
		if start = out.LastEvaluatedKey; len(start) == 0 {
			return all, nil
		}
	}
}

func decodeFanOut(ref job.Ref, parent job.Key, stored item) (*job.FanOut, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	r := &reader{item: stored}
	f := &job.FanOut{Ref: ref, Parent: parent, Revision: int(r.number("revision")), Epoch: r.number("epoch"), ReplayOf: r.text("replay_of"), Total: int(r.number("children")),
		Digest: r.text("digest"), Handler: r.text("handler_name"), Reduce: r.text("reduce_name"), Pool: r.text("pool"), Type: r.text("type"),
		Timeout: job.Duration(r.number("attempt_timeout")), MaxFailed: int(r.number("most_failed")), CreatedAt: r.millis("created_at"),
		OpenPages: sizeOf(stored["open_pages"])}
	if members, ok := stored["made"].(*types.AttributeValueMemberSS); ok {
		for _, m := range members.Value {
			if page, err := strconv.Atoi(m); err == nil {
				f.Made = append(f.Made, page)
			}
		}
	}
	r.document("retry_policy", &f.Retry)
	var cancel job.Cancel
	if r.document("cancel", &cancel) {
		f.Canceled = &cancel
	}
	if pages, ok := stored["failed_on"].(*types.AttributeValueMemberM); ok {
		for _, v := range pages.Value {
			if n, ok := v.(*types.AttributeValueMemberN); ok {
				count, _ := strconv.Atoi(n.Value)
				f.Failed += count
			}
		}
	}
	return f, r.err
}

func sizeOf(v types.AttributeValue) int {
	if members, ok := v.(*types.AttributeValueMemberSS); ok {
		return len(members.Value)
	}
	return 0
}
