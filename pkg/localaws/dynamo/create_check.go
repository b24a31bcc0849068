package dynamo

import (
	"regexp"
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

const maxIndexes = 20

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`)

func checkName(name, member string) error {
	if name == "" {
		return constraint("null", member, "Member must not be null")
	}
	if len(name) < 3 || len(name) > 255 {
		return validation("%s must be at least 3 characters long and at most 255 characters long", strings.ToUpper(member[:1])+member[1:])
	}
	if !namePattern.MatchString(name) {
		return constraint("'"+name+"'", member, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	}
	return nil
}

func (in *createRequest) check() error {
	if err := checkName(in.TableName, "tableName"); err != nil {
		return err
	}
	if err := in.checkBilling(); err != nil {
		return err
	}
	for _, definition := range in.AttributeDefinitions {
		if !slices.Contains([]string{"S", "N", "B"}, definition.AttributeType) {
			return constraint("'"+definition.AttributeType+"'", "attributeDefinitions.1.member.attributeType", "Member must satisfy enum value set: [B, N, S]")
		}
	}
	if stream := in.StreamSpecification; stream != nil && stream.StreamEnabled &&
		!slices.Contains([]string{"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"}, stream.StreamViewType) {
		return constraint("'"+stream.StreamViewType+"'", "streamSpecification.streamViewType", "Member must satisfy enum value set: [NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY]")
	}
	if len(in.GlobalSecondaryIndexes) > maxIndexes {
		return invalidParameter("GlobalSecondaryIndex count exceeds the per-table limit of %d", maxIndexes)
	}
	for i := range in.GlobalSecondaryIndexes {
		if err := in.checkIndex(i); err != nil {
			return err
		}
	}
	return in.checkDefinitions()
}

func (in *createRequest) checkBilling() error {
	switch in.BillingMode {
	case "PAY_PER_REQUEST":
		if in.ProvisionedThroughput != nil {
			return invalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
		}
	case "", "PROVISIONED":
		if in.ProvisionedThroughput == nil {
			return invalidParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
		}
	default:
		return constraint("'"+in.BillingMode+"'", "billingMode", "Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]")
	}
	return nil
}

func (in *createRequest) checkIndex(i int) error {
	x := in.GlobalSecondaryIndexes[i]
	if err := checkName(x.IndexName, "indexName"); err != nil {
		return err
	}
	for _, earlier := range in.GlobalSecondaryIndexes[:i] {
		if earlier.IndexName == x.IndexName {
			return invalidParameter("Duplicate index name: %s", x.IndexName)
		}
	}
	if x.Projection == nil {
		return constraint("null", "globalSecondaryIndexes."+formatInt(int64(i+1))+".member.projection", "Member must not be null")
	}
	switch x.Projection.ProjectionType {
	case "ALL", "KEYS_ONLY":
		if len(x.Projection.NonKeyAttributes) > 0 {
			return invalidParameter("ProjectionType is %s, but NonKeyAttributes is specified", x.Projection.ProjectionType)
		}
	case "INCLUDE":
		if len(x.Projection.NonKeyAttributes) == 0 {
			return invalidParameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
		}
	default:
		return invalidParameter("Unknown ProjectionType: %s", x.Projection.ProjectionType)
	}
	return nil
}

// checkDefinitions: every key attribute is defined, and nothing else is.
func (in *createRequest) checkDefinitions() error {
	used := map[string]bool{}
	schemas := [][]keyElement{in.KeySchema}
	for _, x := range in.GlobalSecondaryIndexes {
		schemas = append(schemas, x.KeySchema)
	}
	for _, schema := range schemas {
		for _, element := range schema {
			used[element.AttributeName] = true
		}
	}
	for _, definition := range in.AttributeDefinitions {
		if !used[definition.AttributeName] {
			return invalidParameter("Some AttributeDefinitions are not used. AttributeDefinitions: %s, keys used: %s",
				listed(in.definedNames()), listed(sortedKeys(used)))
		}
	}
	return nil
}

func (in *createRequest) definedNames() (names []string) {
	for _, definition := range in.AttributeDefinitions {
		names = append(names, definition.AttributeName)
	}
	return names
}

// schema checks and reads a key schema.
func (in *createRequest) schema(elements []keyElement) (keySchema, error) {
	switch {
	case len(elements) == 0:
		return keySchema{}, constraint("null", "keySchema", "Member must not be null")
	case len(elements) > 2:
		return keySchema{}, notImplemented("CreateTable does not implement keys of more than two attributes")
	case elements[0].KeyType != "HASH":
		return keySchema{}, validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	case len(elements) == 2 && elements[1].KeyType != "RANGE":
		return keySchema{}, validation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	case len(elements) == 2 && elements[0].AttributeName == elements[1].AttributeName:
		return keySchema{}, invalidParameter("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	var parts [2]keyAttribute
	for i, element := range elements {
		at := slices.IndexFunc(in.AttributeDefinitions, func(d attributeDefinition) bool { return d.AttributeName == element.AttributeName })
		if at < 0 {
			return keySchema{}, invalidParameter("Some index key attributes are not defined in AttributeDefinitions. Keys: [%s], AttributeDefinitions: %s",
				element.AttributeName, listed(in.definedNames()))
		}
		parts[i] = keyAttribute{element.AttributeName, attr.KindOf(in.AttributeDefinitions[at].AttributeType)}
	}
	return keySchema{Hash: parts[0], Range: parts[1]}, nil
}
