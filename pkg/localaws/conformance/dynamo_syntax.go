package conformance

import "github.com/aws/aws-sdk-go-v2/service/dynamodb"

// syntaxRow is a condition that is refused before any item is looked at.
type syntaxRow struct {
	name, condition string
	with            doc
}

func refusedCondition(what string, rows ...syntaxRow) Case {
	return onDynamoDB("a condition is refused for "+what, func(d database) {
		each(d, rows, func(row syntaxRow) string { return row.name }, func(d database, row syntaxRow) {
			_, err := d.client.DeleteItem(d.ctx, &dynamodb.DeleteItemInput{
				TableName: d.create("syntax", ""), Key: values(doc{"pk": "a"}), ConditionExpression: &row.condition, ExpressionAttributeValues: values(row.with),
			})
			d.refused(err, invalid)
		})
	})
}

func dynamoSyntaxCases() []Case {
	one := doc{":v": 1}
	return []Case{
		refusedCondition("text that is none",
			syntaxRow{"nothing", "", nil},
			syntaxRow{"an unfinished comparison", "x =", nil},
			syntaxRow{"a number in the text", "x = 1", nil},
			syntaxRow{"an unbalanced parenthesis", "(x = :v", one},
			syntaxRow{"an operator that does not exist", "x == :v", one},
			syntaxRow{"a negative index", "x[-1] = :v", one},
			syntaxRow{"an empty IN", "x IN ()", nil},
		),
		refusedCondition("functions in the wrong place or with the wrong operands",
			syntaxRow{"a function in capitals", "ATTRIBUTE_EXISTS(x)", nil},
			syntaxRow{"too few operands", "begins_with(x)", nil},
			syntaxRow{"too many operands", "attribute_exists(x, y)", nil},
			syntaxRow{"attribute_exists of a value", "attribute_exists(:v)", one},
			syntaxRow{"size as a condition", "size(x)", nil},
			syntaxRow{"a function as an operand", "attribute_exists(x) = :v", doc{":v": true}},
			syntaxRow{"an update function", "if_not_exists(x, :v) = :v", one},
		),
		refusedCondition("operands that do not fit",
			syntaxRow{"attribute_type of a type that does not exist", "attribute_type(x, :v)", doc{":v": "Q"}},
			syntaxRow{"begins_with a number", "begins_with(x, :v)", one},
			syntaxRow{"an order of booleans", "x < :v", doc{":v": true}},
			syntaxRow{"BETWEEN with bounds of two types", "x BETWEEN :a AND :b", doc{":a": 1, ":b": "2"}},
			syntaxRow{"BETWEEN with bounds in the wrong order", "x BETWEEN :a AND :b", doc{":a": 2, ":b": 1}},
			syntaxRow{"an attribute compared with itself", "x = x", nil},
		),
		refusedCondition("placeholders that are not defined or not used",
			syntaxRow{"a value that is not defined", "x = :w", one},
			syntaxRow{"a value that is not used", "x = :v", doc{":v": 1, ":w": 1}},
			syntaxRow{"a name that is not defined", "#undefined = :v", one},
		),
		refusedCondition("reserved words, unknown functions and redundant parentheses",
			syntaxRow{"a reserved word", "status = :v", one},
			syntaxRow{"a reserved word within a path", "x.name = :v", one},
			syntaxRow{"an unknown function", "exists(x)", nil},
			syntaxRow{"redundant parentheses", "((x = :v))", one},
		),
	}
}
