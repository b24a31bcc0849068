package dynamo_test

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

func (b bundle) enableTTL() {
	b.Helper()
	out, err := b.client.UpdateTimeToLive(b.Context(), &dynamodb.UpdateTimeToLiveInput{TableName: jobs,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)}})
	done(b, out, err)
}

// sorts lists the sort keys of partition a.
func (b bundle) sorts() []string {
	b.Helper()
	out, err := b.client.Query(b.Context(), &dynamodb.QueryInput{TableName: jobs, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: item{":p": s("a")}})
	found := []string{}
	for _, one := range done(b, out, err).Items {
		found = append(found, text(one["sk"]))
	}
	return found
}

// stream reads the table's whole stream.
func (b bundle) stream() []streamtypes.Record {
	b.Helper()
	described, err := b.client.DescribeTable(b.Context(), &dynamodb.DescribeTableInput{TableName: jobs})
	arn := done(b, described, err).Table.LatestStreamArn
	shards, err := b.streams.DescribeStream(b.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	place, err2 := b.streams.GetShardIterator(b.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: arn, ShardId: done(b, shards, err).StreamDescription.Shards[0].ShardId, ShardIteratorType: "TRIM_HORIZON"})
	records, err := b.streams.GetRecords(b.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: done(b, place, err2).ShardIterator})
	return done(b, records, err).Records
}

func TestExpiredItemsAreSeenUntilTheSweepAndThenRemovedByTheService(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := setup(t, engine, dynamo.Options{})
			b.createJobs("ALL")
			now := time.Now()
			expiring := func(sk string, in time.Duration) item {
				one := job(sk, "1")
				one["ttl"] = n(strconv.FormatInt(now.Add(in).Unix(), 10))
				return one
			}
			b.put(expiring("before", -time.Hour)) // listed when TTL is switched on
			b.enableTTL()
			odd := job("odd", "1")
			odd["ttl"] = s("soon")
			b.put(expiring("after", -time.Minute), expiring("later", time.Hour), expiring("ancient", -6*365*24*time.Hour), job("forever", "1"), odd, expiring("renewed", -time.Minute))
			b.put(expiring("renewed", 2*time.Hour))
			if got := b.sorts(); len(got) != 7 {
				t.Errorf("before the sweep there are %q", got)
			}
			if removed, err := b.service.SweepExpired(now); err != nil || removed != 2 {
				t.Errorf("the sweep removed %d (%v), want 2", removed, err)
			}
			want := []string{"ancient", "forever", "later", "odd", "renewed"}
			if got := b.sorts(); !slices.Equal(got, want) {
				t.Errorf("after the sweep there are %q, want %q", got, want)
			}
			if got := b.due(); len(got) != len(want) {
				t.Errorf("the index holds %q", got)
			}
			records := b.stream()
			for _, record := range records[len(records)-2:] {
				if record.EventName != "REMOVE" || record.UserIdentity == nil || *record.UserIdentity.PrincipalId != "dynamodb.amazonaws.com" || *record.UserIdentity.Type != "Service" {
					t.Errorf("the sweep wrote a %s by %v", record.EventName, record.UserIdentity)
				}
			}
			if removed, _ := b.service.SweepExpired(now.Add(3 * time.Hour)); removed != 2 {
				t.Errorf("the later sweep removed %d, want 2", removed)
			}
		})
	}
}

func TestASweepRemovesMoreThanOneTransactionCan(t *testing.T) {
	b := setup(t, kv.NewMemory(), dynamo.Options{})
	b.createJobs("KEYS_ONLY")
	b.enableTTL()
	for i := range 250 {
		b.put(item{"pk": s("a"), "sk": s(strconv.Itoa(i)), "ttl": n("1783819800")})
	}
	if removed, err := b.service.SweepExpired(time.Unix(1783819801, 0)); err != nil || removed != 250 {
		t.Errorf("the sweep removed %d (%v), want 250", removed, err)
	}
}

func TestStreamRecordsLastADayAndIteratorsAQuarterOfAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, kv.NewMemory(), dynamo.Options{})
		b.createJobs("KEYS_ONLY")
		b.put(job("1", "1"), job("2", "1"))
		out, err := b.client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: jobs})
		arn := done(b, out, err).Table.LatestStreamArn
		place, err := b.streams.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: arn,
			ShardId: aws.String("shardId-00000000000000000000-00000000"), ShardIteratorType: "TRIM_HORIZON"})
		iterator := done(b, place, err).ShardIterator
		time.Sleep(16 * time.Minute)
		_, err = b.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
		refused(t, err, "ExpiredIteratorException")
		time.Sleep(25 * time.Hour)
		b.put(job("3", "1"))
		if got := b.stream(); len(got) != 1 {
			t.Errorf("after a day the stream has %d records, want the new one only", len(got))
		}
		_, err = b.streams.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: arn,
			ShardId: aws.String("shardId-00000000000000000000-00000000"), ShardIteratorType: "AT_SEQUENCE_NUMBER", SequenceNumber: aws.String("000000000000000000001")})
		refused(t, err, "TrimmedDataAccessException")
	})
}
