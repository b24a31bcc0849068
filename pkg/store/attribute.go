package store

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// item is one stored item.
type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// millis stores an instant, seconds a scheduled time.
func millis(t time.Time) types.AttributeValue  { return number(t.UnixMilli()) }
func seconds(t time.Time) types.AttributeValue { return number(t.Unix()) }

func list(values ...string) types.AttributeValue {
	members := make([]types.AttributeValue, len(values))
	for i, v := range values {
		members[i] = text(v)
	}
	return &types.AttributeValueMemberL{Value: members}
}

// document stores a value of ours as JSON text. The values that are passed
// here always encode.
func document(v any) types.AttributeValue {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic("store: a value of ours does not encode: " + err.Error())
	}
	return text(string(encoded))
}

// reader takes an item apart. An attribute that is absent or of another type
// reads as zero, so that an item of a newer build never breaks an older one; a
// document that does not decode is kept as err.
type reader struct {
	item item
	err  error
}

func (r *reader) text(name string) string {
	if v, ok := r.item[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func (r *reader) number(name string) int64 {
	if v, ok := r.item[name].(*types.AttributeValueMemberN); ok {
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err == nil {
			return n
		}
	}
	return 0
}

func (r *reader) has(name string) bool {
	_, ok := r.item[name]
	return ok
}

func (r *reader) millis(name string) time.Time {
	if !r.has(name) {
		return time.Time{}
	}
	return time.UnixMilli(r.number(name)).UTC()
}

func (r *reader) seconds(name string) time.Time {
	if !r.has(name) {
		return time.Time{}
	}
	return time.Unix(r.number(name), 0).UTC()
}

func (r *reader) list(name string) []string {
	v, ok := r.item[name].(*types.AttributeValueMemberL)
	if !ok {
		return nil
	}
	values := make([]string, 0, len(v.Value))
	for _, member := range v.Value {
		if s, ok := member.(*types.AttributeValueMemberS); ok {
			values = append(values, s.Value)
		}
	}
	return values
}

// set reads a string set in the order of its texts.
func (r *reader) set(name string) []string {
	v, ok := r.item[name].(*types.AttributeValueMemberSS)
	if !ok {
		return nil
	}
	values := slices.Clone(v.Value)
	slices.Sort(values)
	return values
}

func (r *reader) document(name string, into any) bool {
	stored := r.text(name)
	if stored == "" {
		return false
	}
	if err := json.Unmarshal([]byte(stored), into); err != nil {
		r.err = &job.Error{Code: job.CodeInternal, Field: name, Message: "a stored document does not decode"}
		return false
	}
	return true
}
