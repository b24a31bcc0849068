package dynamo

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// tableDescription is what DescribeTable shows.
type tableDescription struct {
	TableName                 string
	TableArn                  string
	TableID                   string `json:"TableId"`
	TableStatus               string
	CreationDateTime          json.Number
	KeySchema                 []keyElement
	AttributeDefinitions      []attributeDefinition
	ItemCount                 int
	TableSizeBytes            int
	DeletionProtectionEnabled bool
	ProvisionedThroughput     throughputDescription
	BillingModeSummary        *billingSummary        `json:",omitempty"`
	OnDemandThroughput        json.RawMessage        `json:",omitempty"`
	WarmThroughput            *warmDescription       `json:",omitempty"`
	GlobalSecondaryIndexes    []indexDescription     `json:",omitempty"`
	StreamSpecification       *streamSpecification   `json:",omitempty"`
	LatestStreamArn           string                 `json:",omitempty"`
	LatestStreamLabel         string                 `json:",omitempty"`
	SSEDescription            *encryptionDescription `json:",omitempty"`
	TableClassSummary         *classSummary          `json:",omitempty"`
}

type indexDescription struct {
	IndexName             string
	IndexArn              string
	IndexStatus           string
	KeySchema             []keyElement
	Projection            projectionRequest
	ItemCount             int
	IndexSizeBytes        int
	ProvisionedThroughput throughputDescription
	OnDemandThroughput    json.RawMessage  `json:",omitempty"`
	WarmThroughput        *warmDescription `json:",omitempty"`
}

type throughputDescription struct {
	NumberOfDecreasesToday                int
	ReadCapacityUnits, WriteCapacityUnits int64
}

type warmDescription struct {
	ReadUnitsPerSecond, WriteUnitsPerSecond int64
	Status                                  string
}

type billingSummary struct{ BillingMode string }

type classSummary struct{ TableClass string }

type encryptionDescription struct {
	Status          string
	SSEType         string
	KMSMasterKeyArn string `json:",omitempty"`
}

func (s *Service) describeTable(body []byte) ([]byte, error) {
	var in struct{ TableName string }
	if err := decodeControl("DescribeTable", body, &in); err != nil {
		return nil, err
	}
	return s.answerTable("Table", in.TableName, "ACTIVE")
}

// answerTable describes a table under the given member name.
func (s *Service) answerTable(member, name, status string) ([]byte, error) {
	var description tableDescription
	err := s.engine.View(func(tx kv.Tx) error {
		t, err := s.lookup(tx, name)
		if err != nil {
			return modelFault("ResourceNotFoundException", "Requested resource not found: Table: "+name+" not found")
		}
		description = t.describe(tx, status)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{member: description})
}

func (t *table) describe(tx kv.Tx, status string) tableDescription {
	d := tableDescription{
		TableName: t.Name, TableArn: t.arn, TableID: t.ID, TableStatus: status, CreationDateTime: epoch(t),
		KeySchema: t.Key.elements(), DeletionProtectionEnabled: t.Protected,
		ProvisionedThroughput: t.Echo.throughput(), OnDemandThroughput: t.Echo.OnDemandThroughput, WarmThroughput: t.Echo.warm(),
	}
	d.ItemCount, d.TableSizeBytes = measure(tx, t.itemSpace)
	for _, a := range t.Attributes {
		d.AttributeDefinitions = append(d.AttributeDefinitions, attributeDefinition{a.Name, a.Kind.String()})
	}
	if t.Echo.BillingMode == "PAY_PER_REQUEST" {
		d.BillingModeSummary = &billingSummary{t.Echo.BillingMode}
	}
	if t.Echo.TableClass != "" {
		d.TableClassSummary = &classSummary{t.Echo.TableClass}
	}
	if sse := t.Echo.SSESpecification; sse != nil && sse.Enabled {
		d.SSEDescription = &encryptionDescription{Status: "ENABLED", SSEType: "KMS", KMSMasterKeyArn: sse.KMSMasterKeyID}
	}
	if t.Stream.View != "" {
		d.StreamSpecification = &streamSpecification{true, t.Stream.View}
		d.LatestStreamArn, d.LatestStreamLabel = t.streamARN(), t.Stream.Label
	}
	for _, x := range t.Indexes {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, x.describe(tx, t))
	}
	return d
}

func (x *index) describe(tx kv.Tx, t *table) indexDescription {
	d := indexDescription{
		IndexName: x.Name, IndexArn: t.arn + "/index/" + x.Name, IndexStatus: "ACTIVE", KeySchema: x.Key.elements(),
		Projection:            projectionRequest{x.Projection, x.Include},
		ProvisionedThroughput: x.Echo.throughput(), OnDemandThroughput: x.Echo.OnDemandThroughput, WarmThroughput: x.Echo.warm(),
	}
	d.ItemCount, d.IndexSizeBytes = measure(tx, x.space)
	return d
}

// maxMeasured bounds the counting that a description does; the service's own
// figures are six hours old.
const maxMeasured = 10_000

func measure(tx kv.Tx, space string) (count, size int) {
	tx.Ascend(space, nil, func(_, value []byte) bool {
		count++
		size += len(value)
		return count < maxMeasured
	})
	return count, size
}

func epoch(t *table) json.Number {
	return json.Number(fmt.Sprintf("%d.%03d", t.Created.Unix(), t.Created.Nanosecond()/1_000_000))
}

func (k keySchema) elements() []keyElement {
	elements := []keyElement{{k.Hash.Name, "HASH"}}
	if k.Range.Name != "" {
		elements = append(elements, keyElement{k.Range.Name, "RANGE"})
	}
	return elements
}

func (e echoed) throughput() throughputDescription {
	if e.ProvisionedThroughput == nil {
		return throughputDescription{}
	}
	return throughputDescription{ReadCapacityUnits: e.ProvisionedThroughput.ReadCapacityUnits, WriteCapacityUnits: e.ProvisionedThroughput.WriteCapacityUnits}
}

func (e echoed) warm() *warmDescription {
	if e.WarmThroughput == nil {
		return nil
	}
	return &warmDescription{e.WarmThroughput.ReadUnitsPerSecond, e.WarmThroughput.WriteUnitsPerSecond, "ACTIVE"}
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
