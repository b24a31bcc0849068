package stacks_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// local is an installation that the runtime has made for itself, as `belfry dev`
// and every simulation have it.
func local(t *testing.T) assemble.Clients {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: sqs.NewFromConfig(backend.Config())}
	if err := assemble.New(clients, assemble.Settings{}).Ensure(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	return clients
}

// shape is a table as far as the code depends on it, one line for each fact.
func shape(keys [][2]string, definitions map[string]string, stream, expires string, indexes map[string][][2]string, projections map[string]string) []string {
	var lines []string
	line := func(of string, keys [][2]string) {
		for _, k := range keys {
			lines = append(lines, of+" "+k[1]+" key "+k[0]+" of type "+definitions[k[0]])
		}
	}
	line("table", keys)
	for _, name := range slices.Sorted(maps.Keys(indexes)) {
		line("index "+name, indexes[name])
		lines = append(lines, "index "+name+" holds "+projections[name])
	}
	return append(lines, "stream of "+stream, "expiry by "+expires)
}

func deployedShape(r resource) []string {
	keysOf := func(schema any) (keys [][2]string) {
		for _, k := range schema.([]any) {
			keys = append(keys, [2]string{text(at(k, "AttributeName")), text(at(k, "KeyType"))})
		}
		return keys
	}
	definitions := map[string]string{}
	for _, d := range at(r.Properties, "AttributeDefinitions").([]any) {
		definitions[text(at(d, "AttributeName"))] = text(at(d, "AttributeType"))
	}
	indexes, projections := map[string][][2]string{}, map[string]string{}
	list, _ := at(r.Properties, "GlobalSecondaryIndexes").([]any)
	for _, index := range list {
		name := text(at(index, "IndexName"))
		indexes[name], projections[name] = keysOf(at(index, "KeySchema")), text(at(index, "Projection.ProjectionType"))
	}
	return shape(keysOf(at(r.Properties, "KeySchema")), definitions, r.get("StreamSpecification.StreamViewType"), r.get("TimeToLiveSpecification.AttributeName"), indexes, projections)
}

func ofStream(line string) bool { return strings.HasPrefix(line, "stream of ") }

func localShape(t *testing.T, client *dynamodb.Client, name string) []string {
	t.Helper()
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		t.Fatal(err)
	}
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		t.Fatal(err)
	}
	keysOf := func(schema []types.KeySchemaElement) (keys [][2]string) {
		for _, k := range schema {
			keys = append(keys, [2]string{*k.AttributeName, string(k.KeyType)})
		}
		return keys
	}
	definitions, indexes, projections := map[string]string{}, map[string][][2]string{}, map[string]string{}
	for _, d := range out.Table.AttributeDefinitions {
		definitions[*d.AttributeName] = string(d.AttributeType)
	}
	for _, index := range out.Table.GlobalSecondaryIndexes {
		indexes[*index.IndexName], projections[*index.IndexName] = keysOf(index.KeySchema), string(index.Projection.ProjectionType)
	}
	var stream, expires string
	if s := out.Table.StreamSpecification; s != nil {
		stream = string(s.StreamViewType)
	}
	if d := ttl.TimeToLiveDescription; d != nil && d.AttributeName != nil {
		expires = *d.AttributeName
	}
	return shape(keysOf(out.Table.KeySchema), definitions, stream, expires, indexes, projections)
}

// The archive alone reads the control table's stream; nothing local keeps one.
func TestDeployedTablesAreThoseThatTheRuntimeMakesForItself(t *testing.T) {
	clients := local(t)
	for _, table := range installed(t, "profile: small").of(t, "AWS::DynamoDB::Table") {
		name := table.get("TableName")
		got, want := deployedShape(table), localShape(t, clients.DynamoDB, name)
		if name == "belfry-control" {
			got = slices.DeleteFunc(got, ofStream)
			want = slices.DeleteFunc(want, ofStream)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is deployed as\n%s\nand made locally as\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestDeployedQueuesAreThoseThatTheRuntimeMakesForItself(t *testing.T) {
	clients := local(t)
	out, err := clients.SQS.ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if err != nil {
		t.Fatal(err)
	}
	i := installed(t, "profile: small")
	for _, url := range out.QueueUrls {
		name := url[strings.LastIndexByte(url, '/')+1:]
		has, err := clients.SQS.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
		if err != nil {
			t.Fatal(err)
		}
		q := i.named(t, "AWS::SQS::Queue", "QueueName", name)
		q.expect(t, map[string]string{"MessageRetentionPeriod": has.Attributes["MessageRetentionPeriod"]})
		local, deployed := has.Attributes["RedrivePolicy"], q.get("RedrivePolicy.maxReceiveCount")
		if deployed != "" && !strings.Contains(local, `"maxReceiveCount":`+deployed) || deployed == "" && local != "" {
			t.Errorf("%s gives up after %q receives, locally %s", name, deployed, local)
		}
	}
	want := 0
	for _, q := range i.of(t, "AWS::SQS::Queue") {
		if q.get("QueueName") != "" {
			want++
		}
	}
	if len(out.QueueUrls) != want {
		t.Errorf("%d queues locally, %s deployed", len(out.QueueUrls), strconv.Itoa(want))
	}
}
