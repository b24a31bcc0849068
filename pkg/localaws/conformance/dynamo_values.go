package conformance

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cockroachdb/apd/v3"
)

// doc is an item in plain Go: string, int or number, []byte, bool, nil, []any,
// doc, and the three sets.
type doc map[string]any

type (
	number     string
	stringSet  []string
	numberSet  []string
	binarySet  [][]byte
	unreadable struct{ types.AttributeValue }
)

func values(d doc) map[string]types.AttributeValue {
	if d == nil {
		return nil
	}
	out := make(map[string]types.AttributeValue, len(d))
	for name, v := range d {
		out[name] = value(v)
	}
	return out
}

func value(v any) types.AttributeValue {
	switch v := v.(type) {
	case string:
		return &types.AttributeValueMemberS{Value: v}
	case int:
		return &types.AttributeValueMemberN{Value: strconv.Itoa(v)}
	case number:
		return &types.AttributeValueMemberN{Value: string(v)}
	case []byte:
		return &types.AttributeValueMemberB{Value: v}
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	case nil:
		return &types.AttributeValueMemberNULL{Value: true}
	case stringSet:
		return &types.AttributeValueMemberSS{Value: v}
	case numberSet:
		return &types.AttributeValueMemberNS{Value: v}
	case binarySet:
		return &types.AttributeValueMemberBS{Value: v}
	case doc:
		return &types.AttributeValueMemberM{Value: values(v)}
	case []any:
		list := make([]types.AttributeValue, len(v))
		for i, element := range v {
			list[i] = value(element)
		}
		return &types.AttributeValueMemberL{Value: list}
	case types.AttributeValue:
		return v
	default:
		panic(fmt.Sprintf("no attribute value for %T", v))
	}
}

// plain is the way back; sets come sorted.
func plain(item map[string]types.AttributeValue) doc {
	if item == nil {
		return nil
	}
	out := make(doc, len(item))
	for name, v := range item {
		out[name] = plainValue(v)
	}
	return out
}

func plainValue(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return canonical(v.Value)
	case *types.AttributeValueMemberB:
		return slices.Clone(v.Value)
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberNULL:
		return nil
	case *types.AttributeValueMemberSS:
		return stringSet(slices.Sorted(slices.Values(v.Value)))
	case *types.AttributeValueMemberNS:
		return numberSet(slices.Sorted(slices.Values(v.Value)))
	case *types.AttributeValueMemberBS:
		return binarySet(slices.SortedFunc(slices.Values(v.Value), slices.Compare))
	case *types.AttributeValueMemberM:
		return plain(v.Value)
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, element := range v.Value {
			list[i] = plainValue(element)
		}
		return list
	default:
		return unreadable{v}
	}
}

// canonical writes equal numbers alike; services differ in how they do.
func canonical(text string) number {
	d, _, err := apd.NewFromString(text)
	if err != nil {
		return number(text)
	}
	d.Reduce(d)
	return number(d.Text('f'))
}

func plainAll(items []map[string]types.AttributeValue) []doc {
	out := make([]doc, len(items))
	for i, item := range items {
		out[i] = plain(item)
	}
	return out
}

// normal writes documents alike whether they were written by hand or read.
func normal(v any) any {
	switch v := v.(type) {
	case doc:
		if len(v) == 0 {
			return doc(nil)
		}
		return plain(values(v))
	case []doc:
		out := make([]any, len(v))
		for i, d := range v {
			out[i] = normal(d)
		}
		return out
	case []any:
		return plainValue(value(v))
	default:
		return v
	}
}

// pick lists one attribute of each item.
func pick(items []doc, name string) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = item[name]
	}
	return out
}
