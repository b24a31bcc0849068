package dynamo_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/dynamo"
)

// What the scheduler's own tables refuse, a handler's must be able to refuse: the
// reports of the area fencing, told of an item of the application. pkg/store and
// pkg/execute tell them of executions.

func TestPB071AWriteDecidedOnAnOldReadIsRefused(t *testing.T) {
	b := setup(t)
	// A handler that repairs reads the item of attempt 1's life and pauses.
	if _, err := dynamo.Update(t.Context(), b.client, setStatus("e", "RUNNING 1"), fence(7)); err != nil {
		t.Fatal(err)
	}
	read := b.item("e")["status"]
	if _, err := dynamo.Update(t.Context(), b.client, setStatus("e", "RUNNING 2"), fence(8)); err != nil {
		t.Fatal(err)
	}
	// It resumes, under the fence that it read, and again with a condition on what it read.
	if _, err := dynamo.Update(t.Context(), b.client, setStatus("e", "LOST"), fence(7)); !errors.Is(err, idempotent.ErrFenced) {
		t.Errorf("under the old fence: %v", err)
	}
	in := setStatus("e", "LOST")
	in.ConditionExpression = aws.String("#status = :read")
	in.ExpressionAttributeValues[":read"] = read
	var failed *types.ConditionalCheckFailedException
	if _, err := dynamo.Update(t.Context(), b.client, in, fence(9)); !errors.As(err, &failed) {
		t.Errorf("on the old read, under a newer fence: %v", err)
	}
	b.wantText("e", "status", "RUNNING 2")
	b.wantText("e", dynamo.FenceAttribute, string(fence(8)))
}

func TestPB080TheLosersOutcomeNeverOverwritesTheWinners(t *testing.T) {
	outcomes := map[int64]string{1: "FAILED", 2: "SUCCEEDED"}
	for name, order := range map[string][]int64{"the older first": {1, 2}, "the newer first": {2, 1}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			for _, token := range order {
				_, err := dynamo.Update(t.Context(), b.client, setStatus("e", outcomes[token]), fence(token))
				if late := token < order[0]; errors.Is(err, idempotent.ErrFenced) != late || !late && err != nil {
					t.Errorf("attempt %d: %v", token, err)
				}
			}
			b.wantText("e", "status", "SUCCEEDED")
		})
	}
}

func TestPB087WhatIsDeliveredAgainForAnOldAttemptTouchesNothing(t *testing.T) {
	b := setup(t)
	clean := func() error {
		_, err := dynamo.Update(t.Context(), b.client, setStatus("e", "cleaned after 1"), fence(1))
		return err
	}
	if err := clean(); err != nil {
		t.Fatal(err)
	}
	if _, err := dynamo.Update(t.Context(), b.client, setStatus("e", "RUNNING 2"), fence(2)); err != nil {
		t.Fatal(err)
	}
	before := b.item("e")
	if err := clean(); !errors.Is(err, idempotent.ErrFenced) {
		t.Errorf("delivered again: %v", err)
	}
	for name, want := range before {
		got, _ := b.item("e")[name].(*types.AttributeValueMemberS)
		if w, _ := want.(*types.AttributeValueMemberS); got == nil || w == nil || got.Value != w.Value {
			t.Errorf("%s became %v", name, got)
		}
	}
}
