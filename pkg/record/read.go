package record

import (
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// Change is one record of the stream as far as it concerns an execution.
type Change struct {
	ID       string         // of the record: unique, and the same at every delivery
	Inserted bool           // the item was not there before
	Old      *job.Execution // nil: there was none, or the item is no execution
	New      *job.Execution // nil: it was removed, or the item is no execution
}

// Read reads an event's records, one Change for each, in their order. Records
// of items that are no execution, such as history items, give empty changes.
// The error tells of all that could not be read; their changes hold what could.
func Read(e events.DynamoDBEvent) ([]Change, error) {
	changes := make([]Change, len(e.Records))
	var unread []error
	for i, r := range e.Records {
		before, errOld := decode(r.Change.OldImage)
		after, errNew := decode(r.Change.NewImage)
		if err := errors.Join(errOld, errNew); err != nil {
			unread = append(unread, fmt.Errorf("record %s: %w", r.EventID, err))
		}
		changes[i] = Change{ID: r.EventID, Inserted: r.EventName == string(events.DynamoDBOperationTypeInsert), Old: before, New: after}
	}
	return changes, errors.Join(unread...)
}

func decode(image map[string]events.DynamoDBAttributeValue) (*job.Execution, error) {
	if len(image) == 0 {
		return nil, nil
	}
	return store.DecodeImage(Attributes(image))
}

// Attributes turns an image as events carry it into one as the table's client
// knows it.
func Attributes(image map[string]events.DynamoDBAttributeValue) map[string]types.AttributeValue {
	out := make(map[string]types.AttributeValue, len(image))
	for name, value := range image {
		out[name] = attribute(value)
	}
	return out
}

func attribute(v events.DynamoDBAttributeValue) types.AttributeValue {
	switch v.DataType() {
	case events.DataTypeString:
		return &types.AttributeValueMemberS{Value: v.String()}
	case events.DataTypeNumber:
		return &types.AttributeValueMemberN{Value: v.Number()}
	case events.DataTypeBoolean:
		return &types.AttributeValueMemberBOOL{Value: v.Boolean()}
	case events.DataTypeBinary:
		return &types.AttributeValueMemberB{Value: v.Binary()}
	case events.DataTypeList:
		members := make([]types.AttributeValue, len(v.List()))
		for i, member := range v.List() {
			members[i] = attribute(member)
		}
		return &types.AttributeValueMemberL{Value: members}
	case events.DataTypeMap:
		return &types.AttributeValueMemberM{Value: Attributes(v.Map())}
	case events.DataTypeStringSet:
		return &types.AttributeValueMemberSS{Value: v.StringSet()}
	case events.DataTypeNumberSet:
		return &types.AttributeValueMemberNS{Value: v.NumberSet()}
	case events.DataTypeBinarySet:
		return &types.AttributeValueMemberBS{Value: v.BinarySet()}
	default:
		return &types.AttributeValueMemberNULL{Value: true}
	}
}
