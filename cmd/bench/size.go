package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/store"
)

// size is what an item weighs by the service's rule: the bytes of names and
// values, numbers in base 100, one byte for each element of a list or map and
// three for the list or map itself.
func size(item map[string]types.AttributeValue) int {
	total := 0
	for name, value := range item {
		total += len(name) + weight(value)
	}
	return total
}

func weight(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return (len(v.Value)+1)/2 + 1
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberL:
		total := 3
		for _, element := range v.Value {
			total += 1 + weight(element)
		}
		return total
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + size(v.Value)
	}
	return 1
}

// largest is the weight of the heaviest item of a table that counts.
func (t *town) largest(ctx context.Context, table string, counts func(sortKey string) bool) (float64, error) {
	found := 0
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(t.backend.Config()), &dynamodb.ScanInput{TableName: aws.String(table)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		for _, item := range page.Items {
			key, isText := item[store.SortKey].(*types.AttributeValueMemberS)
			if isText && counts(key.Value) {
				found = max(found, size(item))
			}
		}
	}
	return float64(found), nil
}

// sizes notes the largest head and the largest execution of the towns.
func sizes(ctx context.Context, to *report, towns ...*town) error {
	heads, executions := 0.0, 0.0
	for _, t := range towns {
		names := t.Store.Tables()
		head, err := t.largest(ctx, names.Jobs, func(key string) bool { return key == "HEAD" })
		if err != nil {
			return err
		}
		execution, err := t.largest(ctx, names.Executions, func(string) bool { return true })
		if err != nil {
			return err
		}
		heads, executions = max(heads, head), max(executions, execution)
	}
	to.note("head_bytes", heads, nil)
	to.note("execution_bytes", executions, nil)
	return nil
}
