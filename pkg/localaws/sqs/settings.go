package sqs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// settings are a queue's attributes as its operations read them.
type settings struct {
	delay      int64 // nanoseconds, as all times below
	visibility int64
	retention  int64
	wait       int64
	maxSize    int
	redrive    *redrivePolicy
	allow      redriveAllowPolicy
}

type redrivePolicy struct {
	Target      string     `json:"deadLetterTargetArn"`
	MaxReceives flexNumber `json:"maxReceiveCount"`
}

type redriveAllowPolicy struct {
	Permission string   `json:"redrivePermission"`
	Sources    []string `json:"sourceQueueArns,omitempty"`
}

// allows tells whether the queue with this ARN may name the policy's owner as
// its dead-letter queue.
func (p redriveAllowPolicy) allows(source string) bool {
	switch p.Permission {
	case "denyAll":
		return false
	case "byQueue":
		return slices.Contains(p.Sources, source)
	}
	return true
}

// flexNumber reads a JSON number that may stand in quotes, as CloudFormation
// writes them.
type flexNumber int

// UnmarshalJSON accepts 3 and "3".
func (n *flexNumber) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("%s is not a whole number", raw)
	}
	*n = flexNumber(value)
	return nil
}

// bound is what one attribute accepts.
type bound struct {
	low, high int
	standard  string                                   // value while it is not set; empty = absent then
	normalise func(name, value string) (string, error) // nil = a whole number within low and high
}

var bounds = map[string]bound{
	"DelaySeconds":                  {low: 0, high: 900, standard: "0"},
	"MaximumMessageSize":            {low: 1024, high: maxMessage, standard: strconv.Itoa(maxMessage)},
	"MessageRetentionPeriod":        {low: 60, high: 1_209_600, standard: "345600"},
	"ReceiveMessageWaitTimeSeconds": {low: 0, high: 20, standard: "0"},
	"VisibilityTimeout":             {low: 0, high: 43_200, standard: "30"},
	"KmsDataKeyReusePeriodSeconds":  {low: 60, high: 86_400},
	"KmsMasterKeyId":                {normalise: verbatim},
	"Policy":                        {normalise: verbatim},
	"RedriveAllowPolicy":            {normalise: normaliseAllow},
	"RedrivePolicy":                 {normalise: normaliseRedrive},
	"SqsManagedSseEnabled":          {normalise: normaliseFlag, standard: "true"},
}

// normalise checks the value of a settable attribute by itself and returns it
// as it is stored and shown.
func normalise(name, value string) (string, error) {
	b, ok := bounds[name]
	if !ok {
		return "", unsettable(name)
	}
	if b.normalise != nil {
		return b.normalise(name, value)
	}
	number, err := strconv.Atoi(value)
	if err != nil || number < b.low || number > b.high {
		return "", badAttribute(name, value, fmt.Sprintf("it must be a whole number from %d to %d", b.low, b.high))
	}
	return strconv.Itoa(number), nil
}

func unsettable(name string) error {
	switch name {
	case "FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit":
		return unsupported("the local backend has standard queues only and does not implement the attribute " + name)
	}
	return sender("InvalidAttributeName", "InvalidAttributeName", "Unknown Attribute "+name+".")
}

func verbatim(_, value string) (string, error) { return value, nil }

func normaliseFlag(name, value string) (string, error) {
	if value != "true" && value != "false" {
		return "", badAttribute(name, value, "it must be true or false")
	}
	return value, nil
}

func normaliseRedrive(name, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	var policy redrivePolicy
	if err := json.Unmarshal([]byte(value), &policy); err != nil {
		return "", badPolicy(name, value, "It is not a redrive policy: "+err.Error())
	}
	if policy.MaxReceives < 1 || policy.MaxReceives > 1000 {
		return "", badPolicy(name, value, "Redrive policy does not contain a maxReceiveCount from 1 to 1000")
	}
	if policy.Target == "" {
		return "", badPolicy(name, value, "Redrive policy does not contain mandatory attribute: deadLetterTargetArn")
	}
	text, err := json.Marshal(policy)
	return string(text), err
}

func normaliseAllow(name, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	var policy redriveAllowPolicy
	if err := json.Unmarshal([]byte(value), &policy); err != nil {
		return "", badPolicy(name, value, "It is not a redrive allow policy: "+err.Error())
	}
	if !slices.Contains([]string{"allowAll", "denyAll", "byQueue"}, policy.Permission) {
		return "", badPolicy(name, value, "redrivePermission must be allowAll, denyAll or byQueue")
	}
	if (policy.Permission == "byQueue") != (len(policy.Sources) > 0) || len(policy.Sources) > 10 {
		return "", badPolicy(name, value, "sourceQueueArns must name 1 to 10 queues for byQueue, and none otherwise")
	}
	text, err := json.Marshal(policy)
	return string(text), err
}

// value returns an attribute as set or by default.
func (q *queue) value(name string) string {
	if value, ok := q.Attributes[name]; ok {
		return value
	}
	return bounds[name].standard
}

// readSettings takes over what the attributes say; they have been checked.
func (q *queue) readSettings() error {
	seconds := func(name string) int64 {
		number, _ := strconv.ParseInt(q.value(name), 10, 64)
		return number * int64(time.Second)
	}
	q.settings = settings{
		delay:      seconds("DelaySeconds"),
		visibility: seconds("VisibilityTimeout"),
		retention:  seconds("MessageRetentionPeriod"),
		wait:       seconds("ReceiveMessageWaitTimeSeconds"),
	}
	q.settings.maxSize, _ = strconv.Atoi(q.value("MaximumMessageSize"))
	if text := q.value("RedrivePolicy"); text != "" {
		q.settings.redrive = new(redrivePolicy)
		if err := json.Unmarshal([]byte(text), q.settings.redrive); err != nil {
			return fmt.Errorf("redrive policy of queue %s: %w", q.name, err)
		}
	}
	if text := q.value("RedriveAllowPolicy"); text != "" {
		if err := json.Unmarshal([]byte(text), &q.settings.allow); err != nil {
			return fmt.Errorf("redrive allow policy of queue %s: %w", q.name, err)
		}
	}
	return nil
}
