package dynamo

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// createRequest is CreateTable's body. What is missing here is refused by
// name.
type createRequest struct {
	TableName                 string
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keyElement
	GlobalSecondaryIndexes    []indexRequest
	StreamSpecification       *streamSpecification
	DeletionProtectionEnabled bool
	BillingMode               string
	ProvisionedThroughput     *throughput
	OnDemandThroughput        json.RawMessage
	WarmThroughput            *warmThroughput
	SSESpecification          *encryption
	TableClass                string
	Tags                      json.RawMessage
}

type attributeDefinition struct{ AttributeName, AttributeType string }

type keyElement struct{ AttributeName, KeyType string }

type indexRequest struct {
	IndexName             string
	KeySchema             []keyElement
	Projection            *projectionRequest
	ProvisionedThroughput *throughput
	OnDemandThroughput    json.RawMessage
	WarmThroughput        *warmThroughput
}

type projectionRequest struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

type throughput struct{ ReadCapacityUnits, WriteCapacityUnits int64 }

type warmThroughput struct{ ReadUnitsPerSecond, WriteUnitsPerSecond int64 }

type encryption struct {
	Enabled        bool
	SSEType        string `json:",omitempty"`
	KMSMasterKeyID string `json:"KMSMasterKeyId,omitempty"`
}

type streamSpecification struct {
	StreamEnabled  bool
	StreamViewType string `json:",omitempty"`
}

// decodeControl reads the body of an operation on tables; an unknown member
// is refused by name.
func decodeControl(operation string, body []byte, in any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(in)
	if err == nil {
		return nil
	}
	if _, name, found := strings.Cut(err.Error(), "unknown field "); found {
		return notImplemented("%s does not implement the parameter %s", operation, strings.Trim(name, `"`))
	}
	fault := validation("%s", err.Error())
	fault.Code, fault.Prefix = "SerializationException", serviceNamespace
	return fault
}

func (s *Service) createTable(body []byte) ([]byte, error) {
	var in createRequest
	if err := decodeControl("CreateTable", body, &in); err != nil {
		return nil, err
	}
	t, err := in.build(time.Now())
	if err != nil {
		return nil, err
	}
	err = s.engine.Update(func(tx kv.Tx) error {
		if tx.Get(catalogSpace, []byte(t.Name)) != nil {
			return modelFault("ResourceInUseException", "Table already exists: "+t.Name)
		}
		return saveTable(tx, t)
	})
	if err != nil {
		return nil, err
	}
	return s.answerTable("TableDescription", t.Name, "CREATING")
}

// build checks the request and makes the definition.
func (in *createRequest) build(now time.Time) (*table, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	t := &table{Name: in.TableName, ID: newID(), Created: now, Protected: in.DeletionProtectionEnabled, Echo: echoed{
		BillingMode: in.BillingMode, ProvisionedThroughput: in.ProvisionedThroughput, OnDemandThroughput: in.OnDemandThroughput,
		WarmThroughput: in.WarmThroughput, SSESpecification: in.SSESpecification, TableClass: in.TableClass, Tags: in.Tags,
	}}
	for _, definition := range in.AttributeDefinitions {
		t.Attributes = append(t.Attributes, keyAttribute{definition.AttributeName, attr.KindOf(definition.AttributeType)})
	}
	var err error
	if t.Key, err = in.schema(in.KeySchema); err != nil {
		return nil, err
	}
	for _, wanted := range in.GlobalSecondaryIndexes {
		x := &index{Name: wanted.IndexName, Projection: wanted.Projection.ProjectionType, Include: wanted.Projection.NonKeyAttributes, Echo: echoed{
			ProvisionedThroughput: wanted.ProvisionedThroughput, OnDemandThroughput: wanted.OnDemandThroughput, WarmThroughput: wanted.WarmThroughput,
		}}
		if x.Key, err = in.schema(wanted.KeySchema); err != nil {
			return nil, err
		}
		t.Indexes = append(t.Indexes, x)
	}
	if in.StreamSpecification != nil && in.StreamSpecification.StreamEnabled {
		t.Stream = streamDefinition{View: in.StreamSpecification.StreamViewType, Label: now.UTC().Format("2006-01-02T15:04:05.000")}
	}
	return t, nil
}

// newID keeps the spaces of a table apart from those of earlier tables of the
// same name. Its value is never compared or shown as an order.
func newID() string {
	var id [8]byte
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
