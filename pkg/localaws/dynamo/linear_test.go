package dynamo_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/localawstest"
)

// call is one operation on the cell of one item: a strong read, or a write on
// condition of what it expects.
type call struct {
	key            string
	write          bool
	expected, next int
}

// result is what it saw: the value (0: no item), or whether the write was
// done.
type result struct {
	value int
	done  bool
}

// cell is the specification: an item is a compare-and-set register.
var cell = porcupine.Model{
	Partition: localawstest.ByKey(func(c call) string { return c.key }),
	Init:      func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		value, in, out := state.(int), input.(call), output.(result)
		switch {
		case !in.write:
			return out.value == value, value
		case out.done:
			return in.expected == value, in.next
		default:
			return in.expected != value, value
		}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
}

func (b bundle) perform(c call) (result, error) {
	key := item{"pk": s("a"), "sk": s(c.key)}
	if !c.write {
		out, err := b.client.GetItem(b.Context(), &dynamodb.GetItemInput{TableName: jobs, Key: key, ConsistentRead: aws.Bool(true)})
		if err != nil {
			return result{}, err
		}
		value, _ := strconv.Atoi(text(out.Item["due"]))
		return result{value: value}, nil
	}
	in := &dynamodb.UpdateItemInput{TableName: jobs, Key: key, UpdateExpression: aws.String("SET due = :next, due_shard = :x"),
		ConditionExpression: aws.String("due = :expected"), ExpressionAttributeValues: item{":next": n(strconv.Itoa(c.next)), ":x": s("x")}}
	if c.expected == 0 {
		in.ConditionExpression = aws.String("attribute_not_exists(due)")
	} else {
		in.ExpressionAttributeValues[":expected"] = n(strconv.Itoa(c.expected))
	}
	_, err := b.client.UpdateItem(b.Context(), in)
	if err != nil && !isConditionFailure(err) {
		return result{}, err
	}
	return result{done: err == nil}, nil
}

func anyCall(random *rand.Rand) call {
	return call{key: strconv.Itoa(random.IntN(2)), write: random.IntN(3) > 0, expected: random.IntN(4), next: 1 + random.IntN(3)}
}

func TestConditionalUpdatesOfOneItemAreLinearizable(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := setup(t, engine, dynamo.Options{})
			b.createJobs("KEYS_ONLY")
			history := localawstest.History(t, 8, 60, anyCall, b.perform)
			done := 0
			for _, operation := range history {
				if operation.Output.(result).done {
					done++
				}
			}
			if done < 10 {
				t.Errorf("only %d of %d calls wrote: the history shows nothing", done, len(history))
			}
			if verdict := porcupine.CheckOperationsTimeout(cell, history, 20*time.Second); verdict != porcupine.Ok {
				t.Errorf("the history of %d calls is %s", len(history), verdict)
			}
		})
	}
}

// Transfers between items, each a transaction on condition of what was read,
// keep the sum; no transactional read ever sees half a transfer.
func TestTransactionsAreIsolated(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := setup(t, engine, dynamo.Options{})
			b.createJobs("KEYS_ONLY")
			b.put(job("0", "100"), job("1", "100"), job("2", "100"))
			var group sync.WaitGroup
			for worker := range 6 {
				group.Go(func() {
					random := rand.New(rand.NewPCG(2, uint64(worker)))
					for range 40 {
						if sum := b.transfer(random); sum != 300 {
							t.Errorf("a reader saw a sum of %d", sum)
						}
					}
				})
			}
			group.Wait()
		})
	}
}

// transfer reads all items in one transaction, moves an amount between two of
// them in another, and returns the sum that it read.
func (b bundle) transfer(random *rand.Rand) (sum int) {
	gets, balances := []types.TransactGetItem{}, [3]int{}
	for i := range balances {
		gets = append(gets, types.TransactGetItem{Get: &types.Get{TableName: jobs, Key: item{"pk": s("a"), "sk": s(strconv.Itoa(i))}}})
	}
	out, err := b.client.TransactGetItems(b.Context(), &dynamodb.TransactGetItemsInput{TransactItems: gets})
	if err != nil {
		b.Error(err)
		return 0
	}
	for i, response := range out.Responses {
		balances[i], _ = strconv.Atoi(text(response.Item["due"]))
		sum += balances[i]
	}
	from, amount := random.IntN(3), random.IntN(20)
	writes := []types.TransactWriteItem{}
	for i, by := range map[int]int{from: -amount, (from + 1) % 3: amount} {
		writes = append(writes, types.TransactWriteItem{Update: &types.Update{TableName: jobs, Key: item{"pk": s("a"), "sk": s(strconv.Itoa(i))},
			UpdateExpression: aws.String("SET due = :next"), ConditionExpression: aws.String("due = :now"),
			ExpressionAttributeValues: item{":next": n(strconv.Itoa(balances[i] + by)), ":now": n(strconv.Itoa(balances[i]))}}})
	}
	_, err = b.client.TransactWriteItems(b.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	if err != nil && !isCancelled(err) {
		b.Error(err)
	}
	return sum
}
