package parts

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/pkg/store"
)

// Index is a sparse index of keys alone: a text and what is ordered by.
type Index struct {
	Name, Partition, Sort string
	SortType              awsdynamodb.AttributeType
}

// TableShape is what one table is made of beyond its key.
type TableShape struct {
	Name    string
	Expires bool // items go when their time to live has come
	Stream  bool // changes are told, old and new
	Indexes []Index
}

// NewTable makes a table that survives its stack: on demand, recoverable to any
// second of the last 35 days, encrypted, protected.
func NewTable(scope constructs.Construct, id string, i Installation, shape TableShape) awsdynamodb.Table {
	s := i.Settings.Tables
	props := &awsdynamodb.TableProps{
		TableName:    &shape.Name,
		PartitionKey: attribute(store.PartitionKey, awsdynamodb.AttributeType_STRING), SortKey: attribute(store.SortKey, awsdynamodb.AttributeType_STRING),
		BillingMode:                      awsdynamodb.BillingMode_PAY_PER_REQUEST,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: jsii.Bool(true)},
		DeletionProtection:               &s.DeletionProtection, RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
		WarmThroughput: i.warm(), ContributorInsightsSpecification: i.insights(), Encryption: awsdynamodb.TableEncryption_DEFAULT,
	}
	if i.Key != nil {
		props.Encryption, props.EncryptionKey = awsdynamodb.TableEncryption_CUSTOMER_MANAGED, i.Key
	}
	if shape.Expires {
		props.TimeToLiveAttribute = jsii.String(store.TTLAttribute)
	}
	if shape.Stream {
		props.Stream = awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES
	}
	table := awsdynamodb.NewTable(scope, &id, props)
	for _, index := range shape.Indexes {
		table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
			IndexName: jsii.String(index.Name), ProjectionType: awsdynamodb.ProjectionType_KEYS_ONLY,
			PartitionKey: attribute(index.Partition, awsdynamodb.AttributeType_STRING), SortKey: attribute(index.Sort, index.SortType),
			WarmThroughput: i.warm(), ContributorInsightsSpecification: i.insights(),
		})
	}
	return table
}

func attribute(name string, of awsdynamodb.AttributeType) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: &name, Type: of}
}

// warm is what a table or an index can carry from its first second on. An index
// that lags behind its table rejects the table's writes, so both have the same.
func (i Installation) warm() *awsdynamodb.WarmThroughput {
	s := i.Settings.Tables
	if s.WarmReads == 0 && s.WarmWrites == 0 {
		return nil
	}
	w := &awsdynamodb.WarmThroughput{}
	if s.WarmReads > 0 {
		w.ReadUnitsPerSecond = jsii.Number(s.WarmReads)
	}
	if s.WarmWrites > 0 {
		w.WriteUnitsPerSecond = jsii.Number(s.WarmWrites)
	}
	return w
}

func (i Installation) insights() *awsdynamodb.ContributorInsightsSpecification {
	if !i.Settings.Tables.ContributorInsights {
		return nil
	}
	return &awsdynamodb.ContributorInsightsSpecification{Enabled: jsii.Bool(true), Mode: awsdynamodb.ContributorInsightsMode_THROTTLED_KEYS}
}
