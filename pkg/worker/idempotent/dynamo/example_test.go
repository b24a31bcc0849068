package dynamo_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// table is a table of its own in memory, in place of the application's.
func table() *dynamodb.Client {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		panic(err)
	}
	client := dynamodb.NewFromConfig(backend.Config())
	if err := makeTable(context.Background(), client); err != nil {
		panic(err)
	}
	return client
}

// The charge and its entry in the inbox stand together or not at all. The second
// attempt books nothing and returns the receipt of the first.
func ExampleTransact() {
	ctx, client := context.Background(), table()
	inbox := &dynamo.Inbox{Client: client, Table: "app"}

	handler := func(ctx context.Context, a *worker.Attempt) error {
		account := types.TransactWriteItem{Update: &types.Update{TableName: aws.String("app"), Key: pk("account-7"),
			UpdateExpression:          aws.String("ADD balance :amount"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":amount": &types.AttributeValueMemberN{Value: "-30"}}}}
		charged, err := dynamo.Transact(ctx, inbox, idempotent.Of(a, "charge"), fmt.Sprintf("receipt of attempt %d", a.Number()), account)
		if err != nil {
			return err
		}
		fmt.Println(charged.State, charged.Value)
		return nil
	}
	for number := 1; number <= 2; number++ {
		if err := handler(ctx, workertest.Attempt(workertest.Facts{Job: "billing", Number: number, FencingToken: int64(number)})); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// new receipt of attempt 1
	// existing receipt of attempt 1
}

// The outside knows no keys, but can be asked: the second attempt finds that the
// first began, and asks before it calls.
func ExampleBegin() {
	ctx, inbox := context.Background(), &dynamo.Inbox{Client: table(), Table: "app"}
	sent := map[string]bool{} // what the outside knows

	handler := func(ctx context.Context, a *worker.Attempt, dies bool) error {
		action := idempotent.Of(a, "letter")
		began, err := dynamo.Begin[string](ctx, inbox, action)
		if err != nil {
			return err
		}
		fmt.Println("attempt", a.Number(), "finds it", began.State)
		switch began.State {
		case idempotent.Existing:
			return nil
		case idempotent.Unfinished:
			if sent[action.Key] {
				return dynamo.Finish(ctx, inbox, action, "sent")
			}
		case idempotent.New:
		}
		sent[action.Key] = true
		if dies {
			return errors.New("the process was killed")
		}
		return dynamo.Finish(ctx, inbox, action, "sent")
	}
	for number := 1; number <= 3; number++ {
		a := workertest.Attempt(workertest.Facts{Job: "letters", Number: number, FencingToken: int64(number)})
		if err := handler(ctx, a, number == 1); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// attempt 1 finds it new
	// the process was killed
	// attempt 2 finds it unfinished
	// attempt 3 finds it existing
}

// The first attempt freezes after it has read; the second takes over and writes;
// what the first then writes is refused.
func ExampleUpdate() {
	ctx, client := context.Background(), table()
	write := func(a *worker.Attempt, status string) error {
		_, err := dynamo.Update(ctx, client, &dynamodb.UpdateItemInput{TableName: aws.String("app"), Key: pk("report"),
			UpdateExpression:          aws.String("SET #status = :status"),
			ConditionExpression:       aws.String("attribute_not_exists(#status) OR #status <> :status"),
			ExpressionAttributeNames:  map[string]string{"#status": "status"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":status": &types.AttributeValueMemberS{Value: status}}}, idempotent.FenceOf(a))
		return err
	}
	frozen := workertest.Attempt(workertest.Facts{Job: "report", Number: 1, FencingToken: 1})
	newer := workertest.Attempt(workertest.Facts{Job: "report", Number: 2, FencingToken: 2})

	fmt.Println("newer:", write(newer, "SUCCEEDED"))
	err := write(frozen, "FAILED")
	fmt.Println("frozen, thawed:", errors.Is(err, idempotent.ErrFenced), worker.FailureOf(err).Class)
	// Output:
	// newer: <nil>
	// frozen, thawed: true permanent
}

// In a transaction with other writes the fence guards the parts that are given one.
func ExampleFence() {
	ctx, client := context.Background(), table()
	f := idempotent.FenceOf(workertest.Attempt(workertest.Facts{Job: "report", FencingToken: 2}))
	head, err := dynamo.Fence(types.TransactWriteItem{Put: &types.Put{TableName: aws.String("app"), Item: pk("head")}}, f)
	if err != nil {
		fmt.Println(err)
	}
	rows := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("app"), Item: pk("rows")}}
	_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{head, rows}})
	fmt.Println(dynamo.Lost(err, f))
	// Output: <nil>
}
