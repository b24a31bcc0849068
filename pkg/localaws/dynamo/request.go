package dynamo

import (
	"slices"
	"strconv"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
)

// request is the members that the item operations share. Which of them an
// operation accepts is in accepts; absent ones are nil or zero.
type request struct {
	operation string

	table string
	index string
	item  attr.Item
	key   attr.Item

	condition    *string
	filter       *string
	keyCondition *string
	projection   *string
	update       *string
	names        []expr.Name
	values       attr.Item
	hasNames     bool
	hasValues    bool

	returnValues  string
	returnFailed  bool // ReturnValuesOnConditionCheckFailure is ALL_OLD
	capacity      capacityMode
	consistent    bool
	backward      bool
	limit         *int64
	startKey      attr.Item
	selectWhat    string
	segment       *int64
	totalSegments *int64

	scope *expr.Scope
}

// decode reads the body of operation. Members that it does not accept are
// refused by name.
func decode(operation string, body []byte) (*request, error) {
	r, err := jsonread.New(string(body))
	if err != nil {
		return nil, err
	}
	in, err := decodeFrom(operation, r)
	if err != nil {
		return nil, err
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	return in, in.bindPlaceholders()
}

func decodeFrom(operation string, r *jsonread.Reader) (*request, error) {
	in := &request{operation: operation}
	allowed := accepts[operation]
	err := r.Object(func(name string) error {
		if r.Null() {
			return nil
		}
		if !slices.Contains(allowed, name) {
			return notImplemented("%s does not implement the parameter %s", operation, name)
		}
		return in.read(name, r)
	})
	return in, err
}

func (in *request) read(name string, r *jsonread.Reader) (err error) {
	switch name {
	case "TableName":
		in.table, err = r.String()
	case "IndexName":
		in.index, err = r.String()
	case "Item":
		in.item, err = attr.ReadItem(r)
	case "Key":
		in.key, err = attr.ReadItem(r)
	case "ExclusiveStartKey":
		in.startKey, err = attr.ReadItem(r)
	case "ConditionExpression":
		in.condition, err = text(r)
	case "FilterExpression":
		in.filter, err = text(r)
	case "KeyConditionExpression":
		in.keyCondition, err = text(r)
	case "ProjectionExpression":
		in.projection, err = text(r)
	case "UpdateExpression":
		in.update, err = text(r)
	case "ExpressionAttributeNames":
		in.hasNames = true
		in.names, err = placeholders(r)
	case "ExpressionAttributeValues":
		in.hasValues = true
		in.values, err = attr.ReadItem(r)
	default:
		return in.readSetting(name, r)
	}
	return err
}

func (in *request) readSetting(name string, r *jsonread.Reader) (err error) {
	switch name {
	case "ReturnValues":
		in.returnValues, err = choice(r, "returnValues", "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
	case "ReturnValuesOnConditionCheckFailure":
		var wanted string
		wanted, err = choice(r, "returnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
		in.returnFailed = wanted == "ALL_OLD"
	case "ReturnConsumedCapacity":
		in.capacity, err = readCapacityMode(r)
	case "ReturnItemCollectionMetrics":
		// There are none without local secondary indexes, at the service too.
		_, err = choice(r, "returnItemCollectionMetrics", "SIZE", "NONE")
	case "ConsistentRead":
		in.consistent, err = r.Bool()
	case "ScanIndexForward":
		var forward bool
		forward, err = r.Bool()
		in.backward = !forward
	case "Limit":
		in.limit, err = atLeast(r, "limit", 1)
	case "Select":
		in.selectWhat, err = choice(r, "select", "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
	case "Segment":
		in.segment, err = atLeast(r, "segment", 0)
	case "TotalSegments":
		in.totalSegments, err = atLeast(r, "totalSegments", 1)
	}
	return err
}

func text(r *jsonread.Reader) (*string, error) {
	s, err := r.String()
	return &s, err
}

func choice(r *jsonread.Reader, member string, choices ...string) (string, error) {
	given, err := r.String()
	if err != nil {
		return "", err
	}
	if !slices.Contains(choices, given) {
		return "", constraint("'"+given+"'", member, "Member must satisfy enum value set: "+listed(choices))
	}
	return given, nil
}

func atLeast(r *jsonread.Reader, member string, least int64) (*int64, error) {
	n, err := r.Int()
	if err != nil {
		return nil, err
	}
	if n < least {
		return nil, constraint("'"+strconv.FormatInt(n, 10)+"'", member, "Member must have value greater than or equal to "+strconv.FormatInt(least, 10))
	}
	return &n, nil
}

func listed(words []string) string {
	list := "["
	for i, word := range words {
		if i > 0 {
			list += ", "
		}
		list += word
	}
	return list + "]"
}

func placeholders(r *jsonread.Reader) ([]expr.Name, error) {
	names := make([]expr.Name, 0, 8)
	err := r.Object(func(placeholder string) error {
		name, err := r.String()
		names = append(names, expr.Name{Placeholder: placeholder, Name: name})
		return err
	})
	return names, err
}
