package sqs

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

const (
	modelled = "com.amazonaws.sqs"
	coral    = "com.amazon.coral.service"
	legacy   = "AWS.SimpleQueueService."
)

// sender is a fault of the caller in a shape that the service's model knows.
func sender(code, query, message string) *wire.Fault {
	return &wire.Fault{
		Status: http.StatusBadRequest, Code: code, Prefix: modelled,
		Query: query + ";Sender", Message: message,
	}
}

func unsupported(message string) *wire.Fault {
	return sender("UnsupportedOperation", legacy+"UnsupportedOperation", message)
}

func noSuchQueue() *wire.Fault {
	return sender("QueueDoesNotExist", legacy+"NonExistentQueue", "The specified queue does not exist.")
}

func badHandle(handle string) *wire.Fault {
	return sender("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid",
		fmt.Sprintf("The input receipt handle %q is not a valid receipt handle.", handle))
}

func missing(parameter string) *wire.Fault {
	return &wire.Fault{
		Status: http.StatusBadRequest, Code: "MissingRequiredParameterException", Prefix: coral,
		Query: "MissingParameter;Sender", Message: "The request must contain the parameter " + parameter + ".",
	}
}

func badParameter(message string) *wire.Fault {
	return &wire.Fault{
		Status: http.StatusBadRequest, Code: "InvalidParameterValueException", Prefix: coral,
		Query: "InvalidParameterValue;Sender", Message: message,
	}
}

func outOfRange(parameter string, value, low, high int) *wire.Fault {
	return badParameter(fmt.Sprintf("Value %d for parameter %s is invalid. Reason: must be between %d and %d.",
		value, parameter, low, high))
}

func badAttribute(name, value, reason string) *wire.Fault {
	return sender("InvalidAttributeValue", "InvalidAttributeValue",
		fmt.Sprintf("Invalid value %q for the parameter %s: %s.", value, name, reason))
}

// badPolicy refuses a policy that stands in an attribute.
func badPolicy(name, value, reason string) *wire.Fault {
	return badParameter("Value " + value + " for parameter " + name + " is invalid. Reason: " + reason + ".")
}

func closedFault() *wire.Fault {
	return &wire.Fault{
		Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable", Prefix: coral,
		Query: "ServiceUnavailable;Receiver", Message: "The local backend has been closed.",
	}
}

// entryError is one failed entry of a batch's answer.
type entryError struct {
	ID          string `json:"Id"`
	SenderFault bool
	Code        string
	Message     string
}

// failEntry turns what a single call would have answered into a batch entry,
// which shows the legacy code.
func failEntry(id string, err error) entryError {
	var fault *wire.Fault
	if !errors.As(err, &fault) {
		return entryError{ID: id, Code: "InternalError", Message: err.Error()}
	}
	code, senderFault := fault.Code, fault.Status < http.StatusInternalServerError
	for i := range fault.Query {
		if fault.Query[i] == ';' {
			code = fault.Query[:i]
			break
		}
	}
	return entryError{ID: id, SenderFault: senderFault, Code: code, Message: fault.Message}
}
