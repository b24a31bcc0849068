package s3_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/localawstest"
)

type kind int

const (
	reading kind = iota
	putting
	deleting
)

// call is one operation on one object. expected is the content under whose
// entity tag a write is done: absent for If-None-Match, whatever for none.
type call struct {
	key            string
	kind           kind
	expected, next string
}

const (
	absent   = ""
	whatever = "whatever"
)

// result is what it saw: the content ("" when there is no object), or what the
// write was answered, "" when it was done.
type result struct{ content, code string }

// cell is the specification: an object is a register with compare-and-set.
var cell = porcupine.Model{
	Partition: localawstest.ByKey(func(c call) string { return c.key }),
	Init:      func() any { return absent },
	Step: func(state, input, output any) (bool, any) {
		content, in, out := state.(string), input.(call), output.(result)
		if in.kind == reading {
			return out.content == content, content
		}
		want := ""
		switch {
		case in.expected == whatever || in.expected == content:
		case in.expected == absent || content != absent:
			want = "PreconditionFailed"
		default:
			want = "NoSuchKey"
		}
		if want != "" {
			return out.code == want, content
		}
		return out.code == "", in.next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
}

func (b *bench) perform(c call) (result, error) {
	var match *string
	if c.expected != whatever && c.expected != absent {
		match = aws.String(modelObject{content: c.expected}.tag())
	}
	var err error
	switch c.kind {
	case reading:
		out, err := b.GetObject(b.Context(), &sdk.GetObjectInput{Bucket: aws.String(bucket), Key: &c.key})
		if codeOf(err) == "NoSuchKey" {
			return result{}, nil
		}
		if err != nil {
			return result{}, err
		}
		content, err := io.ReadAll(out.Body)
		return result{content: string(content)}, err
	case putting:
		in := &sdk.PutObjectInput{Bucket: aws.String(bucket), Key: &c.key, Body: strings.NewReader(c.next), IfMatch: match}
		if c.expected == absent {
			in.IfNoneMatch = aws.String("*")
		}
		_, err = b.PutObject(b.Context(), in)
	case deleting:
		_, err = b.DeleteObject(b.Context(), &sdk.DeleteObjectInput{Bucket: aws.String(bucket), Key: &c.key, IfMatch: match})
	}
	if code := codeOf(err); code != "" {
		return result{code: code}, nil
	}
	return result{}, err
}

// anyCall draws a call. A delete cannot be made where nothing is.
func anyCall(random *rand.Rand) call {
	contents := []string{absent, whatever, "1", "2", "3"}
	c := call{key: fmt.Sprint(random.IntN(2)), kind: kind(random.IntN(3)), expected: contents[random.IntN(5)], next: contents[2+random.IntN(3)]}
	if c.kind != deleting {
		return c
	}
	c.next = absent
	if c.expected == absent {
		c.expected = whatever
	}
	return c
}

func TestConditionalWritesOfOneObjectAreLinearizable(t *testing.T) {
	onEngines(t, func(t *testing.T, options localaws.Options) {
		history := localawstest.History(t, 8, 60, anyCall, setup(t, options).perform)
		done := map[kind]int{}
		for _, operation := range history {
			if operation.Output.(result).code == "" {
				done[operation.Input.(call).kind]++
			}
		}
		if done[putting] < 10 || done[deleting] < 10 {
			t.Errorf("of %d calls only %v were done: the history shows nothing", len(history), done)
		}
		if verdict := porcupine.CheckOperationsTimeout(cell, history, 20*time.Second); verdict != porcupine.Ok {
			t.Errorf("the history of %d calls is %s", len(history), verdict)
		}
	})
}
