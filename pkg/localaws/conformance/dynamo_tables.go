package conformance

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func dynamoTableCases() []Case {
	return append([]Case{
		onDynamoDB("a table is described as it was made", describedTable),
		onDynamoDB("a table cannot be made twice", func(d database) {
			d.create("tables", "")
			_, err := d.client.CreateTable(d.ctx, d.definition("tables", ""))
			d.refused(err, inUse)
		}),
		onDynamoDB("a deleted table is gone, and made anew it is empty", func(d database) {
			table := d.create("tables", "", dueIndex("ALL"))
			d.put(table, doc{"pk": "a", "due_shard": "x", "at": 1})
			out, err := d.client.DeleteTable(d.ctx, &dynamodb.DeleteTableInput{TableName: table})
			done(d, out, err)
			_, err = d.client.GetItem(d.ctx, &dynamodb.GetItemInput{TableName: table, Key: values(doc{"pk": "a"})})
			d.refused(err, notFound)
			d.create("tables", "", dueIndex("ALL"))
			d.wantItem(table, doc{"pk": "a"}, nil)
			d.want("its index", d.due(table, "x"), []doc{})
		}),
		onDynamoDB("a protected table cannot be deleted", func(d database) {
			in := d.definition("tables", "")
			in.DeletionProtectionEnabled = aws.Bool(true)
			out, err := d.client.CreateTable(d.ctx, in)
			done(d, out, err)
			d.awaitActive(in.TableName)
			_, err = d.client.DeleteTable(d.ctx, &dynamodb.DeleteTableInput{TableName: in.TableName})
			d.refused(err, invalid)
		}),
		onDynamoDB("tables are listed", func(d database) {
			one, two := d.create("tables-1", ""), d.create("tables-2", "")
			var names []string
			in := &dynamodb.ListTablesInput{Limit: aws.Int32(1)}
			for {
				out, err := d.client.ListTables(d.ctx, in)
				names = append(names, done(d, out, err).TableNames...)
				if in.ExclusiveStartTableName = out.LastEvaluatedTableName; in.ExclusiveStartTableName == nil {
					break
				}
			}
			if !slices.Contains(names, *one) || !slices.Contains(names, *two) {
				d.Errorf("the list is %v", names)
			}
		}),
		onDynamoDB("time to live is switched on once and described", timeToLive),
	}, dynamoRefusedTableCases()...)
}

func describedTable(d database) {
	in := d.definition("tables", "sk:N", dueIndex("INCLUDE", "x"))
	in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: "NEW_AND_OLD_IMAGES"}
	_, err := d.client.CreateTable(d.ctx, in)
	done(d, in, err)
	d.awaitActive(in.TableName)
	out, err := d.client.DescribeTable(d.ctx, &dynamodb.DescribeTableInput{TableName: in.TableName})
	table := done(d, out, err).Table
	if *table.TableName != *in.TableName || table.TableStatus != "ACTIVE" || table.CreationDateTime == nil || *table.TableArn == "" {
		d.Errorf("the table is %+v", table)
	}
	if table.BillingModeSummary == nil || table.BillingModeSummary.BillingMode != "PAY_PER_REQUEST" {
		d.Errorf("billing is %+v", table.BillingModeSummary)
	}
	if len(table.KeySchema) != 2 || *table.KeySchema[1].AttributeName != "sk" || table.KeySchema[1].KeyType != "RANGE" || len(table.AttributeDefinitions) != 4 {
		d.Errorf("keys are %v of %v", table.KeySchema, table.AttributeDefinitions)
	}
	if table.LatestStreamArn == nil || table.StreamSpecification.StreamViewType != "NEW_AND_OLD_IMAGES" {
		d.Errorf("stream is %v", table.StreamSpecification)
	}
	if len(table.GlobalSecondaryIndexes) != 1 {
		d.Fatalf("%d indexes, want 1", len(table.GlobalSecondaryIndexes))
	}
	index := table.GlobalSecondaryIndexes[0]
	if *index.IndexName != "due" || index.IndexStatus != "ACTIVE" || index.Projection.ProjectionType != "INCLUDE" || !slices.Equal(index.Projection.NonKeyAttributes, []string{"x"}) {
		d.Errorf("index is %+v", index)
	}
}

func timeToLive(d database) {
	table := d.create("tables", "")
	describe := func() *types.TimeToLiveDescription {
		out, err := d.client.DescribeTimeToLive(d.ctx, &dynamodb.DescribeTimeToLiveInput{TableName: table})
		return done(d, out, err).TimeToLiveDescription
	}
	if got := describe(); got.TimeToLiveStatus != "DISABLED" {
		d.Errorf("status is %s at first", got.TimeToLiveStatus)
	}
	enable := &dynamodb.UpdateTimeToLiveInput{TableName: table, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)}}
	out, err := d.client.UpdateTimeToLive(d.ctx, enable)
	done(d, out, err)
	if got := describe(); got.TimeToLiveStatus != "ENABLED" || aws.ToString(got.AttributeName) != "ttl" {
		d.Errorf("status is %s on %v", got.TimeToLiveStatus, got.AttributeName)
	}
	_, err = d.client.UpdateTimeToLive(d.ctx, enable)
	d.refused(err, invalid)
}

// tableRow is a definition that is refused.
type tableRow struct {
	name   string
	change func(*dynamodb.CreateTableInput)
}

func refusedTable(what string, rows ...tableRow) Case {
	return onDynamoDB("a table is refused for "+what, func(d database) {
		each(d, rows, func(row tableRow) string { return row.name }, func(d database, row tableRow) {
			in := d.definition("tables", "sk:S", dueIndex("ALL"))
			row.change(in)
			_, err := d.client.CreateTable(d.ctx, in)
			d.refused(err, invalid)
		})
	})
}

func dynamoRefusedTableCases() []Case {
	type input = dynamodb.CreateTableInput
	return []Case{
		refusedTable("its name",
			tableRow{"two letters", func(in *input) { in.TableName = aws.String("ab") }},
			tableRow{"a space", func(in *input) { in.TableName = aws.String("a b c") }},
		),
		refusedTable("attributes that are not defined or not used",
			tableRow{"not defined", func(in *input) { in.AttributeDefinitions = in.AttributeDefinitions[1:] }},
			tableRow{"not used", func(in *input) {
				in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("x"), AttributeType: "S"})
			}},
		),
		refusedTable("throughput that its billing does not take",
			tableRow{"some on demand", func(in *input) {
				in.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)}
			}},
			tableRow{"none when provisioned", func(in *input) { in.BillingMode = "PROVISIONED" }},
		),
		refusedTable("keys and indexes that contradict themselves",
			tableRow{"a sort key first", func(in *input) { slices.Reverse(in.KeySchema) }},
			tableRow{"two indexes of one name", func(in *input) {
				in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, in.GlobalSecondaryIndexes[0])
			}},
			tableRow{"attributes named for a projection of all", func(in *input) {
				in.GlobalSecondaryIndexes[0].Projection.NonKeyAttributes = []string{"x"}
			}},
		),
	}
}
