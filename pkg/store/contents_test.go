package store_test

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// everything is what all tables hold.
func (s *shelf) everything() []map[string]types.AttributeValue {
	s.Helper()
	var all []map[string]types.AttributeValue
	for _, table := range []string{s.Tables().Jobs, s.Tables().Executions, s.Tables().Control} {
		out, err := s.client.Scan(s.Context(), &dynamodb.ScanInput{TableName: aws.String(table)})
		s.must(err)
		all = append(all, out.Items...)
	}
	return all
}

func equal(a, b []map[string]types.AttributeValue) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}

func textOf(v types.AttributeValue) string {
	text, _ := v.(*types.AttributeValueMemberS)
	if text == nil {
		return ""
	}
	return text.Value
}
