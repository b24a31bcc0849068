package sqs

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

// FuzzServeOperation throws bodies at a queue that has a message in flight.
// Whatever comes, the answer is JSON or a fault of the caller.
func FuzzServeOperation(f *testing.F) {
	const url = `"QueueUrl":"http://x/000000000000/q"`
	for _, body := range []string{
		``, `null`, `{}`, `[]`, `{` + url + `}`,
		`{` + url + `,"MessageBody":"x","MessageAttributes":{"a":{"DataType":"Binary"},"b":{"DataType":"String","StringValue":null},"c":null}}`,
		`{` + url + `,"MessageBody":"x","MessageSystemAttributes":{"AWSTraceHeader":{"DataType":"String"}},"DelaySeconds":-1}`,
		`{` + url + `,"Entries":[null,{"Id":"a"},{"Id":"b","ReceiptHandle":"AAAAAAAAAAEAAAAAAAAAAQAAAAH_________w","VisibilityTimeout":0}]}`,
		`{` + url + `,"ReceiptHandle":"AAAAAAAAAAEAAAAAAAAAAQAAAAH_________w","VisibilityTimeout":43200}`,
		`{` + url + `,"Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":1}","RedriveAllowPolicy":"null","Policy":""}}`,
		`{` + url + `,"AttributeNames":["All","",null],"MessageAttributeNames":[".*","*",""],"MaxNumberOfMessages":0}`,
		`{"QueueName":"q","Attributes":{"DelaySeconds":"1e3"},"tags":{"":""},"NextToken":"\u0000","MaxResults":-1}`,
		`{"QueueUrl":"::","QueueName":"\ud800","TagKeys":[""],"Tags":{}}`,
	} {
		for i := range operations {
			f.Add(i, body)
		}
	}
	names := slices.Sorted(maps.Keys(operations))
	f.Fuzz(func(t *testing.T, name, body string) {
		if strings.Contains(strings.ToLower(body), "waittimeseconds") {
			return // would only wait
		}
		service, err := New(nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range [][2]string{
			{"CreateQueue", `{"QueueName":"q"}`}, {"SendMessage", `{` + url + `,"MessageBody":"x"}`}, {"ReceiveMessage", `{` + url + `}`},
			{name, body}, {names[len(body)%len(names)], body},
		} {
			out, err := service.ServeOperation(t.Context(), call[0], []byte(call[1]))
			var fault *wire.Fault
			switch {
			case err == nil && !json.Valid(out):
				t.Errorf("%s %s: answered %q", call[0], call[1], out)
			case err != nil && !errors.As(err, &fault), fault != nil && fault.Status != 400:
				t.Errorf("%s %s: %v", call[0], call[1], err)
			}
		}
	})
}
