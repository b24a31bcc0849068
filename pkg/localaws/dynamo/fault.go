package dynamo

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

const (
	modelNamespace    = "com.amazonaws.dynamodb.v20120810"
	validateNamespace = "com.amazon.coral.validate"
	serviceNamespace  = "com.amazon.coral.service"
)

func modelFault(code, message string) *wire.Fault {
	return &wire.Fault{Status: 400, Code: code, Prefix: modelNamespace, Message: message}
}

// validation is the service's refusal of what it was given.
func validation(format string, args ...any) *wire.Fault {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	return &wire.Fault{Status: 400, Code: "ValidationException", Prefix: validateNamespace, Message: message}
}

func invalidParameter(format string, args ...any) *wire.Fault {
	return validation("One or more parameter values were invalid: "+format, args...)
}

// constraint is the service's wording for a member out of its bounds.
func constraint(value, member, rule string) *wire.Fault {
	return validation("1 validation error detected: Value %s at '%s' failed to satisfy constraint: %s", value, member, rule)
}

func notImplemented(format string, args ...any) *wire.Fault {
	return &wire.Fault{Status: 400, Code: "NotImplementedException", Prefix: serviceNamespace, Message: "localaws: " + fmt.Sprintf(format, args...)}
}

func tableNotFound() *wire.Fault {
	return modelFault("ResourceNotFoundException", "Requested resource not found")
}

// conditionFailed carries the item when the caller asked for it.
func conditionFailed(item attr.Item, show bool) *wire.Fault {
	fault := modelFault("ConditionalCheckFailedException", "The conditional request failed")
	if show && item != nil {
		fault.Extra = map[string]any{"Item": json.RawMessage(item.AppendJSON(nil))}
	}
	return fault
}

// asFault turns what the lower rooms report into what the service would say.
func asFault(err error) error {
	var invalid *attr.Invalid
	if errors.As(err, &invalid) {
		return validation("%s", invalid.Message)
	}
	var malformed *jsonread.Error
	if errors.As(err, &malformed) {
		return &wire.Fault{Status: 400, Code: "SerializationException", Prefix: serviceNamespace, Message: malformed.Error()}
	}
	return err
}

func isConditionFailure(err error) bool {
	var fault *wire.Fault
	return errors.As(err, &fault) && fault.Code == "ConditionalCheckFailedException"
}
