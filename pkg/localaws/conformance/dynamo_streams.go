package conformance

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

func dynamoStreamCases() []Case {
	return []Case{
		onDynamoDB("a stream has both images of every change, in order, and nothing of what changed nothing", streamImages),
		onDynamoDB("a stream shows the view that was asked for", streamViews),
		onDynamoDB("an iterator at the latest record sees only what comes after", func(d database) {
			table, arn := d.streaming("streams", "NEW_IMAGE")
			d.put(table, doc{"pk": "a"})
			iterator := d.iterator(arn, "LATEST", "")
			d.put(table, doc{"pk": "b"})
			records := d.records(iterator)
			if len(records) != 1 {
				d.Fatalf("%d records, want 1", len(records))
			}
			d.want("the record's keys", fromStream(records[0].Dynamodb.Keys), doc{"pk": "b"})
		}),
		onDynamoDB("an iterator at or after a sequence number continues there", func(d database) {
			table, arn := d.streaming("streams", "KEYS_ONLY")
			for i := range 4 {
				d.put(table, doc{"pk": fmt.Sprint(i)})
			}
			second := *d.records(d.iterator(arn, "TRIM_HORIZON", ""))[1].Dynamodb.SequenceNumber
			if got := len(d.records(d.iterator(arn, "AT_SEQUENCE_NUMBER", second))); got != 3 {
				d.Errorf("%d records from the second on, want 3", got)
			}
			if got := len(d.records(d.iterator(arn, "AFTER_SEQUENCE_NUMBER", second))); got != 2 {
				d.Errorf("%d records after the second, want 2", got)
			}
		}),
		onDynamoDB("a transaction appears in the stream item by item", func(d database) {
			table, arn := d.streaming("streams", "NEW_AND_OLD_IMAGES")
			done(d, table, d.transact("", putIfAbsent(table, "a"), putIfAbsent(table, "b")))
			if got := len(d.records(d.iterator(arn, "TRIM_HORIZON", ""))); got != 2 {
				d.Errorf("%d records, want 2", got)
			}
		}),
		onDynamoDB("a stream is listed and described under its table", func(d database) {
			table, arn := d.streaming("streams", "NEW_IMAGE")
			listed, err := d.streams.ListStreams(d.ctx, &dynamodbstreams.ListStreamsInput{TableName: table})
			if done(d, listed, err); len(listed.Streams) != 1 || *listed.Streams[0].StreamArn != arn {
				d.Errorf("the list is %v, want %s", listed.Streams, arn)
			}
			out, err := d.streams.DescribeStream(d.ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
			if is := done(d, out, err).StreamDescription; is.StreamStatus != "ENABLED" || is.StreamViewType != "NEW_IMAGE" || *is.TableName != *table {
				d.Errorf("the description is %+v", is)
			}
		}),
		onDynamoDB("a stream that is not there is refused", func(d database) {
			arn := "arn:aws:dynamodb:us-east-1:000000000000:table/" + d.prefix + "absent/stream/2026-01-01T00:00:00.000"
			_, err := d.streams.DescribeStream(d.ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
			d.refused(err, notFound)
		}),
	}
}

// streaming makes a table with a stream.
func (d database) streaming(name string, view types.StreamViewType) (table *string, arn string) {
	d.Helper()
	in := d.definition(name, "")
	in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view}
	out, err := d.client.CreateTable(d.ctx, in)
	arn = *done(d, out, err).TableDescription.LatestStreamArn
	d.awaitActive(in.TableName)
	return in.TableName, arn
}

func (d database) iterator(arn string, kind streamtypes.ShardIteratorType, sequence string) *string {
	d.Helper()
	described, err := d.streams.DescribeStream(d.ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
	shards := done(d, described, err).StreamDescription.Shards
	if len(shards) != 1 {
		d.Fatalf("%d shards, want 1", len(shards))
	}
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &arn, ShardId: shards[0].ShardId, ShardIteratorType: kind}
	if sequence != "" {
		in.SequenceNumber = &sequence
	}
	out, err := d.streams.GetShardIterator(d.ctx, in)
	return done(d, out, err).ShardIterator
}

// records reads on until there is nothing more.
func (d database) records(iterator *string) (all []streamtypes.Record) {
	d.Helper()
	for {
		out, err := d.streams.GetRecords(d.ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator, Limit: aws.Int32(3)})
		done(d, out, err)
		if len(out.Records) == 0 {
			return all
		}
		all = append(all, out.Records...)
		iterator = out.NextShardIterator
	}
}

func streamImages(d database) {
	table, arn := d.streaming("streams", "NEW_AND_OLD_IMAGES")
	key := doc{"pk": "a"}
	one, two := doc{"pk": "a", "x": 1, "l": []any{doc{"b": []byte{1}}, nil, true}}, doc{"pk": "a", "x": 2}
	d.put(table, one, one, two)
	d.update(table, key, "SET x = :v", doc{":v": 2})
	for range 2 {
		_, err := d.client.DeleteItem(d.ctx, &dynamodb.DeleteItemInput{TableName: table, Key: values(key)})
		done(d, key, err)
	}
	records := d.records(d.iterator(arn, "TRIM_HORIZON", ""))
	want := []struct {
		event     streamtypes.OperationType
		old, with doc
	}{{"INSERT", nil, one}, {"MODIFY", one, two}, {"REMOVE", two, nil}}
	if len(records) != len(want) {
		d.Fatalf("%d records, want %d", len(records), len(want))
	}
	last := ""
	for i, record := range records {
		if record.EventName != want[i].event || record.UserIdentity != nil {
			d.Errorf("record %d is a %s by %v, want a %s by the caller", i, record.EventName, record.UserIdentity, want[i].event)
		}
		d.want("the keys", fromStream(record.Dynamodb.Keys), key)
		d.want("the old image", fromStream(record.Dynamodb.OldImage), want[i].old)
		d.want("the new image", fromStream(record.Dynamodb.NewImage), want[i].with)
		if *record.Dynamodb.SequenceNumber <= last {
			d.Errorf("sequence number %s comes after %s", *record.Dynamodb.SequenceNumber, last)
		}
		last = *record.Dynamodb.SequenceNumber
	}
}

func streamViews(d database) {
	for view, want := range map[types.StreamViewType][2]doc{
		"KEYS_ONLY":          {nil, nil},
		"NEW_IMAGE":          {nil, {"pk": "a", "x": 2}},
		"OLD_IMAGE":          {{"pk": "a", "x": 1}, nil},
		"NEW_AND_OLD_IMAGES": {{"pk": "a", "x": 1}, {"pk": "a", "x": 2}},
	} {
		table, arn := d.streaming("streams-"+string(view), view)
		d.put(table, doc{"pk": "a", "x": 1}, doc{"pk": "a", "x": 2})
		records := d.records(d.iterator(arn, "TRIM_HORIZON", ""))
		if len(records) != 2 {
			d.Fatalf("%s: %d records, want 2", view, len(records))
		}
		d.want(string(view)+": the old image", fromStream(records[1].Dynamodb.OldImage), want[0])
		d.want(string(view)+": the new image", fromStream(records[1].Dynamodb.NewImage), want[1])
	}
}
