package dynamo

import (
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
)

// accepts lists the members that each item operation implements, and those of
// the parts of transactions and batches. Tests compare it with the members
// that the SDK can send.
var accepts = map[string][]string{
	"PutItem": {"TableName", "Item", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
		"ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "ReturnValuesOnConditionCheckFailure"},
	"UpdateItem": {"TableName", "Key", "UpdateExpression", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
		"ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "ReturnValuesOnConditionCheckFailure"},
	"DeleteItem": {"TableName", "Key", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
		"ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "ReturnValuesOnConditionCheckFailure"},
	"GetItem": {"TableName", "Key", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames", "ReturnConsumedCapacity"},
	"Query": {"TableName", "IndexName", "KeyConditionExpression", "FilterExpression", "ProjectionExpression", "ExpressionAttributeNames",
		"ExpressionAttributeValues", "ExclusiveStartKey", "Limit", "ScanIndexForward", "Select", "ConsistentRead", "ReturnConsumedCapacity"},
	"Scan": {"TableName", "IndexName", "FilterExpression", "ProjectionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
		"ExclusiveStartKey", "Limit", "Select", "ConsistentRead", "ReturnConsumedCapacity", "Segment", "TotalSegments"},

	"ConditionCheck": {"TableName", "Key", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValuesOnConditionCheckFailure"},
	"Put":            {"TableName", "Item", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValuesOnConditionCheckFailure"},
	"Update": {"TableName", "Key", "UpdateExpression", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
		"ReturnValuesOnConditionCheckFailure"},
	"Delete": {"TableName", "Key", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValuesOnConditionCheckFailure"},
	"Get":    {"TableName", "Key", "ProjectionExpression", "ExpressionAttributeNames"},

	"PutRequest":    {"Item"},
	"DeleteRequest": {"Key"},
}

// bindPlaceholders makes the scope, and refuses names and values that come
// without an expression to use them.
func (in *request) bindPlaceholders() error {
	if err := in.requireMembers(); err != nil {
		return err
	}
	if in.hasNames && len(in.names) == 0 {
		return validation("ExpressionAttributeNames must not be empty")
	}
	if in.hasValues && len(in.values) == 0 {
		return validation("ExpressionAttributeValues must not be empty")
	}
	if !in.hasExpression() {
		if in.hasNames {
			return validation("ExpressionAttributeNames can only be specified when using expressions")
		}
		if in.hasValues {
			return validation("ExpressionAttributeValues can only be specified when using expressions: %s", in.missingExpressions())
		}
	}
	scope, err := expr.NewScope(in.names, in.values)
	in.scope = scope
	return err
}

func (in *request) hasExpression() bool {
	return in.condition != nil || in.filter != nil || in.keyCondition != nil || in.projection != nil || in.update != nil
}

func (in *request) missingExpressions() string {
	var could []string
	for _, member := range []string{"UpdateExpression", "FilterExpression", "KeyConditionExpression", "ConditionExpression"} {
		if slices.Contains(accepts[in.operation], member) {
			could = append(could, member)
		}
	}
	if len(could) == 1 {
		return could[0] + " is null"
	}
	return strings.Join(could, " and ") + " are null"
}

// requireMembers refuses requests that lack what the operation cannot do
// without.
func (in *request) requireMembers() error {
	required := func(member string) error { return constraint("null", member, "Member must not be null") }
	allowed := accepts[in.operation]
	switch {
	case in.table == "" && slices.Contains(allowed, "TableName"):
		return required("tableName")
	case in.item == nil && slices.Contains(allowed, "Item"):
		return required("item")
	case in.key == nil && slices.Contains(allowed, "Key"):
		return required("key")
	case in.operation == "ConditionCheck" && in.condition == nil:
		return required("conditionExpression")
	case in.operation == "Update" && in.update == nil:
		return required("updateExpression")
	}
	return nil
}
