package dynamo_test

import (
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// The service's own words, which people search for.
func TestRefusalsAreWordedLikeTheService(t *testing.T) {
	service := dynamo.New(kv.NewMemory(), dynamo.Options{})
	if refusal := fault(t, service, "CreateTable", createBody); refusal != nil {
		t.Fatal(refusal)
	}
	const key = `"Key":{"pk":{"S":"a"},"sk":{"S":"b"}}`
	update := func(expression, rest string) string {
		return `{"TableName":"jobs",` + key + `,"UpdateExpression":"` + expression + `"` + rest + `}`
	}
	check := func(condition, rest string) string {
		return `{"TableName":"jobs",` + key + `,"ConditionExpression":"` + condition + `"` + rest + `}`
	}
	query := func(condition, values string) string {
		return `{"TableName":"jobs","KeyConditionExpression":"` + condition + `","ExpressionAttributeValues":` + values + `}`
	}
	one := `,"ExpressionAttributeValues":{":v":{"N":"1"}}`
	for name, row := range map[string]struct{ operation, body, code, message string }{
		"an absent table":        {"GetItem", `{"TableName":"none",` + key + `}`, "ResourceNotFoundException", "Requested resource not found"},
		"a table made twice":     {"CreateTable", createBody, "ResourceInUseException", "Table already exists: jobs"},
		"no table name":          {"GetItem", `{` + key + `}`, "ValidationException", "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null"},
		"a syntax error":         {"DeleteItem", check("a = b c", ""), "ValidationException", `Invalid ConditionExpression: Syntax error; token: "c", near: "b c"`},
		"an early end":           {"DeleteItem", check("a =", ""), "ValidationException", `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="`},
		"a reserved word":        {"UpdateItem", update("SET Name = :v", one), "ValidationException", "Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: Name"},
		"an undefined name":      {"UpdateItem", update("SET #x = :v", one), "ValidationException", "Invalid UpdateExpression: An expression attribute name used in the document path is not defined; attribute name: #x"},
		"an undefined value":     {"UpdateItem", update("SET x = :w", one), "ValidationException", "Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute value: :w"},
		"an unused value":        {"UpdateItem", update("REMOVE x", one), "ValidationException", "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"},
		"overlapping paths":      {"UpdateItem", update("SET a.b = :v REMOVE a", one), "ValidationException", "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]"},
		"conflicting paths":      {"UpdateItem", update("SET a.b = :v REMOVE a[1]", one), "ValidationException", "Invalid UpdateExpression: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [1]]"},
		"a section twice":        {"UpdateItem", update("SET a = :v SET b = :v", one), "ValidationException", `Invalid UpdateExpression: The "SET" section can only be used once in an update expression;`},
		"ADD of a string":        {"UpdateItem", update("ADD a :v", `,"ExpressionAttributeValues":{":v":{"S":"1"}}`), "ValidationException", "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		"an absent operand":      {"UpdateItem", update("SET a = b", ""), "ValidationException", "The provided expression refers to an attribute that does not exist in the item"},
		"an absent map":          {"UpdateItem", update("SET a.b = :v", one), "ValidationException", "The document path provided in the update expression is invalid for update"},
		"a key in an update":     {"UpdateItem", update("SET sk = :v", one), "ValidationException", "One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key"},
		"a failed condition":     {"DeleteItem", check("attribute_exists(pk)", ""), "ConditionalCheckFailedException", "The conditional request failed"},
		"a key that is none":     {"GetItem", `{"TableName":"jobs","Key":{"pk":{"S":"a"}}}`, "ValidationException", "The provided key element does not match the schema"},
		"an empty key":           {"GetItem", `{"TableName":"jobs","Key":{"pk":{"S":""},"sk":{"S":"b"}}}`, "ValidationException", "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"},
		"an item without a key":  {"PutItem", `{"TableName":"jobs","Item":{"pk":{"S":"a"}}}`, "ValidationException", "One or more parameter values were invalid: Missing the key sk in the item"},
		"a key of another type":  {"PutItem", `{"TableName":"jobs","Item":{"pk":{"N":"1"},"sk":{"S":"b"}}}`, "ValidationException", "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"},
		"an index key's type":    {"PutItem", `{"TableName":"jobs","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"at":{"S":"c"}}}`, "ValidationException", "One or more parameter values were invalid: Type mismatch for Index Key at Expected: N Actual: S IndexName: due"},
		"an empty set":           {"PutItem", `{"TableName":"jobs","Item":{"pk":{"SS":[]}}}`, "ValidationException", "One or more parameter values were invalid: An string set  may not be empty"},
		"a member twice":         {"PutItem", `{"TableName":"jobs","Item":{"pk":{"SS":["a","a"]}}}`, "ValidationException", "One or more parameter values were invalid: Input collection [a, a] contains duplicates."},
		"two types":              {"PutItem", `{"TableName":"jobs","Item":{"pk":{"S":"a","N":"1"}}}`, "ValidationException", "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"},
		"no type":                {"PutItem", `{"TableName":"jobs","Item":{"pk":{}}}`, "ValidationException", "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		"a number too large":     {"PutItem", `{"TableName":"jobs","Item":{"pk":{"N":"1e126"}}}`, "ValidationException", "Number overflow. Attempting to store a number with magnitude larger than supported range"},
		"a number too small":     {"PutItem", `{"TableName":"jobs","Item":{"pk":{"N":"1e-131"}}}`, "ValidationException", "Number underflow. Attempting to store a number with magnitude smaller than supported range"},
		"a number too long":      {"PutItem", `{"TableName":"jobs","Item":{"pk":{"N":"1234567890123456789012345678901234567.89"}}}`, "ValidationException", "Attempting to store more than 38 significant digits in a Number"},
		"a query without a hash": {"Query", query("sk = :v", `{":v":{"S":"a"}}`), "ValidationException", "Query condition missed key schema element: pk"},
		"a query of a range":     {"Query", query("pk > :v", `{":v":{"S":"a"}}`), "ValidationException", "Query key condition not supported"},
		"no key condition":       {"Query", `{"TableName":"jobs"}`, "ValidationException", "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."},
		"an absent index":        {"Scan", `{"TableName":"jobs","IndexName":"none"}`, "ValidationException", "The table does not have the specified index: none"},
		"a strong index read":    {"Scan", `{"TableName":"jobs","IndexName":"due","ConsistentRead":true}`, "ValidationException", "Consistent reads are not supported on global secondary indexes"},
		"legacy parameters":      {"PutItem", `{"TableName":"jobs","Expected":{}}`, "NotImplementedException", "localaws: PutItem does not implement the parameter Expected"},
		"a choice that is none":  {"GetItem", `{"TableName":"jobs",` + key + `,"ReturnConsumedCapacity":"ALL"}`, "ValidationException", "1 validation error detected: Value 'ALL' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"},
		"a local index":          {"CreateTable", `{"LocalSecondaryIndexes":[]}`, "NotImplementedException", "localaws: CreateTable does not implement the parameter LocalSecondaryIndexes"},
	} {
		refusal := fault(t, service, row.operation, row.body)
		if refusal == nil || refusal.Code != row.code || refusal.Message != row.message {
			t.Errorf("%s is answered with\n%v, want\n%s: %s", name, refusal, row.code, row.message)
		}
	}
}
