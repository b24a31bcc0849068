package dynamo_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// What a template says of a table and has no meaning here is shown again.
func TestATemplatesTableIsTakenAndShown(t *testing.T) {
	b := setup(t, kv.NewMemory(), dynamo.Options{Region: "eu-central-1", Account: "123456789012"})
	warm := &types.WarmThroughput{ReadUnitsPerSecond: aws.Int64(12000), WriteUnitsPerSecond: aws.Int64(4000)}
	limits := &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(100), MaxWriteRequestUnits: aws.Int64(-1)}
	created, err := b.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: jobs, BillingMode: types.BillingModePayPerRequest, TableClass: types.TableClassStandard, DeletionProtectionEnabled: aws.Bool(true),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("x"), AttributeType: "B"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: aws.String("by-x"), WarmThroughput: warm, OnDemandThroughput: limits,
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("x"), KeyType: "HASH"}}, Projection: &types.Projection{ProjectionType: "KEYS_ONLY"}}},
		WarmThroughput: warm, OnDemandThroughput: limits,
		SSESpecification: &types.SSESpecification{Enabled: aws.Bool(true), SSEType: "KMS", KMSMasterKeyId: aws.String("alias/belfry")},
		Tags:             []types.Tag{{Key: aws.String("team"), Value: aws.String("scheduling")}},
	})
	if status := done(t, created, err).TableDescription.TableStatus; status != types.TableStatusCreating {
		t.Errorf("the new table is %s", status)
	}
	b.put(item{"pk": s("a"), "x": &types.AttributeValueMemberB{Value: []byte{1}}}, item{"pk": s("b")})
	out, err := b.client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: jobs})
	table := done(t, out, err).Table
	index := table.GlobalSecondaryIndexes[0]
	for what, row := range map[string]struct{ got, want any }{
		"status":           {table.TableStatus, types.TableStatusActive},
		"arn":              {*table.TableArn, "arn:aws:dynamodb:eu-central-1:123456789012:table/jobs"},
		"index arn":        {*index.IndexArn, "arn:aws:dynamodb:eu-central-1:123456789012:table/jobs/index/by-x"},
		"class":            {table.TableClassSummary.TableClass, types.TableClassStandard},
		"protection":       {*table.DeletionProtectionEnabled, true},
		"warm reads":       {*table.WarmThroughput.ReadUnitsPerSecond, int64(12000)},
		"warm writes":      {*index.WarmThroughput.WriteUnitsPerSecond, int64(4000)},
		"limit of reads":   {*table.OnDemandThroughput.MaxReadRequestUnits, int64(100)},
		"limit of writes":  {*index.OnDemandThroughput.MaxWriteRequestUnits, int64(-1)},
		"key":              {*table.SSEDescription.KMSMasterKeyArn, "alias/belfry"},
		"items":            {*table.ItemCount, int64(2)},
		"items of index":   {*index.ItemCount, int64(1)},
		"stream":           {table.StreamSpecification == nil, true},
		"creation is near": {time.Since(*table.CreationDateTime).Abs() < time.Minute, true},
	} {
		if row.got != row.want {
			t.Errorf("%s is %v, want %v", what, row.got, row.want)
		}
	}
}

// A service that is opened again over the same file goes on where the other
// one stopped.
func TestAServiceGoesOnFromItsFile(t *testing.T) {
	path := t.TempDir() + "/aws.db"
	open := func() (bundle, func()) {
		engine, err := kv.OpenBolt(path)
		b := setup(t, done(t, engine, err), dynamo.Options{})
		return b, func() { _ = engine.Close() }
	}
	token := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("once"), TransactItems: []types.TransactWriteItem{{Update: &types.Update{
		TableName: jobs, Key: item{"pk": s("a"), "sk": s("1")}, UpdateExpression: aws.String("SET due = due + :one"), ExpressionAttributeValues: item{":one": n("1")},
	}}}}
	b, closeFile := open()
	b.createJobs("KEYS_ONLY")
	b.enableTTL()
	b.put(job("1", "10"), job("2", "5"))
	out, err := b.client.TransactWriteItems(t.Context(), token)
	done(t, out, err)
	closeFile()

	b, closeFile = open()
	defer closeFile()
	out, err = b.client.TransactWriteItems(t.Context(), token)
	done(t, out, err)
	got, err := b.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: jobs, Key: item{"pk": s("a"), "sk": s("1")}})
	if due := text(done(t, got, err).Item["due"]); due != "11" {
		t.Errorf("the token was forgotten: due is %s, want 11", due)
	}
	b.wantDue("after the restart", "2", "1")
	b.put(job("3", "1"))
	records := b.stream()
	if len(records) != 4 || *records[3].Dynamodb.SequenceNumber <= *records[2].Dynamodb.SequenceNumber {
		t.Errorf("the stream has %d records, want 4 in order", len(records))
	}
	ttl, err := b.client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: jobs})
	if status := done(t, ttl, err).TimeToLiveDescription.TimeToLiveStatus; status != types.TimeToLiveStatusEnabled {
		t.Errorf("time to live is %s", status)
	}
}

// A client token is remembered for ten minutes.
func TestAClientTokenIsForgottenAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, kv.NewMemory(), dynamo.Options{})
		b.createJobs("KEYS_ONLY")
		b.put(job("1", "10"))
		for i, want := range []string{"11", "11", "12"} {
			if i == 2 {
				time.Sleep(11 * time.Minute)
			}
			out, err := b.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("t"), TransactItems: []types.TransactWriteItem{{Update: &types.Update{
				TableName: jobs, Key: item{"pk": s("a"), "sk": s("1")}, UpdateExpression: aws.String("ADD due :one"), ExpressionAttributeValues: item{":one": n("1")},
			}}}})
			done(t, out, err)
			got, err := b.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: jobs, Key: item{"pk": s("a"), "sk": s("1")}})
			if due := text(done(t, got, err).Item["due"]); due != want {
				t.Errorf("after call %d due is %s, want %s", i+1, due, want)
			}
		}
	})
}
