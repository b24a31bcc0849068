package conformance

import (
	"slices"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// fromStream reads an image of a stream record; its types are the database's
// over again in another package.
func fromStream(image map[string]streamtypes.AttributeValue) doc {
	if image == nil {
		return nil
	}
	out := make(doc, len(image))
	for name, v := range image {
		out[name] = fromStreamValue(v)
	}
	return out
}

func fromStreamValue(v streamtypes.AttributeValue) any {
	switch v := v.(type) {
	case *streamtypes.AttributeValueMemberS:
		return v.Value
	case *streamtypes.AttributeValueMemberN:
		return number(v.Value)
	case *streamtypes.AttributeValueMemberB:
		return v.Value
	case *streamtypes.AttributeValueMemberBOOL:
		return v.Value
	case *streamtypes.AttributeValueMemberSS:
		return stringSet(slices.Sorted(slices.Values(v.Value)))
	case *streamtypes.AttributeValueMemberNS:
		return numberSet(slices.Sorted(slices.Values(v.Value)))
	case *streamtypes.AttributeValueMemberM:
		return fromStream(v.Value)
	case *streamtypes.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, element := range v.Value {
			list[i] = fromStreamValue(element)
		}
		return list
	default:
		return nil
	}
}
