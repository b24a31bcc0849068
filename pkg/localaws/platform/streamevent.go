package platform

import (
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// streamEvent turns records into the event that Lambda passes.
func streamEvent(arn string, records []types.Record) (events.DynamoDBEvent, error) {
	out := events.DynamoDBEvent{Records: make([]events.DynamoDBEventRecord, len(records))}
	for i, record := range records {
		converted, err := streamRecord(arn, record)
		if err != nil {
			return events.DynamoDBEvent{}, fmt.Errorf("record %s: %w", aws.ToString(record.EventID), err)
		}
		out.Records[i] = converted
	}
	return out, nil
}

func streamRecord(arn string, record types.Record) (events.DynamoDBEventRecord, error) {
	out := events.DynamoDBEventRecord{
		AWSRegion:      aws.ToString(record.AwsRegion),
		EventID:        aws.ToString(record.EventID),
		EventName:      string(record.EventName),
		EventSource:    aws.ToString(record.EventSource),
		EventVersion:   aws.ToString(record.EventVersion),
		EventSourceArn: arn,
	}
	if record.UserIdentity != nil {
		out.UserIdentity = &events.DynamoDBUserIdentity{
			Type: aws.ToString(record.UserIdentity.Type), PrincipalID: aws.ToString(record.UserIdentity.PrincipalId),
		}
	}
	change := record.Dynamodb
	if change == nil {
		return out, nil
	}
	out.Change = events.DynamoDBStreamRecord{
		SequenceNumber: aws.ToString(change.SequenceNumber),
		SizeBytes:      aws.ToInt64(change.SizeBytes),
		StreamViewType: string(change.StreamViewType),
	}
	if change.ApproximateCreationDateTime != nil {
		out.Change.ApproximateCreationDateTime = events.SecondsEpochTime{Time: *change.ApproximateCreationDateTime}
	}
	for _, part := range []struct {
		from map[string]types.AttributeValue
		to   *map[string]events.DynamoDBAttributeValue
	}{
		{change.Keys, &out.Change.Keys}, {change.NewImage, &out.Change.NewImage}, {change.OldImage, &out.Change.OldImage},
	} {
		converted, err := attributeMap(part.from)
		if err != nil {
			return events.DynamoDBEventRecord{}, err
		}
		*part.to = converted
	}
	return out, nil
}

// attributeMap keeps nil: an image that the stream does not have stays absent.
func attributeMap(from map[string]types.AttributeValue) (map[string]events.DynamoDBAttributeValue, error) {
	if from == nil {
		return nil, nil
	}
	out := make(map[string]events.DynamoDBAttributeValue, len(from))
	for name, value := range from {
		converted, err := attributeValue(value)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		out[name] = converted
	}
	return out, nil
}

func attributeValue(value types.AttributeValue) (events.DynamoDBAttributeValue, error) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return events.NewStringAttribute(v.Value), nil
	case *types.AttributeValueMemberN:
		return events.NewNumberAttribute(v.Value), nil
	case *types.AttributeValueMemberB:
		return events.NewBinaryAttribute(v.Value), nil
	case *types.AttributeValueMemberBOOL:
		return events.NewBooleanAttribute(v.Value), nil
	case *types.AttributeValueMemberNULL:
		return events.NewNullAttribute(), nil
	case *types.AttributeValueMemberSS:
		return events.NewStringSetAttribute(v.Value), nil
	case *types.AttributeValueMemberNS:
		return events.NewNumberSetAttribute(v.Value), nil
	case *types.AttributeValueMemberBS:
		return events.NewBinarySetAttribute(v.Value), nil
	case *types.AttributeValueMemberM:
		members, err := attributeMap(v.Value)
		return events.NewMapAttribute(members), err
	case *types.AttributeValueMemberL:
		items := make([]events.DynamoDBAttributeValue, len(v.Value))
		for i, item := range v.Value {
			converted, err := attributeValue(item)
			if err != nil {
				return events.DynamoDBAttributeValue{}, fmt.Errorf("item %d: %w", i, err)
			}
			items[i] = converted
		}
		return events.NewListAttribute(items), nil
	}
	return events.DynamoDBAttributeValue{}, fmt.Errorf("a value of type %T has no place in an event", value)
}
