package dynamo

import (
	"encoding/json"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

type ttlSpecification struct {
	AttributeName string
	Enabled       bool
}

func (s *Service) updateTimeToLive(body []byte) ([]byte, error) {
	var in struct {
		TableName               string
		TimeToLiveSpecification ttlSpecification
	}
	if err := decodeControl("UpdateTimeToLive", body, &in); err != nil {
		return nil, err
	}
	wanted := in.TimeToLiveSpecification
	if wanted.AttributeName == "" {
		return nil, constraint("''", "timeToLiveSpecification.attributeName", "Member must have length greater than or equal to 1")
	}
	err := s.engine.Update(func(tx kv.Tx) error {
		t, err := s.lookup(tx, in.TableName)
		if err != nil {
			return modelFault("ResourceNotFoundException", "Requested resource not found: Table: "+in.TableName+" not found")
		}
		if err := checkTTL(t, wanted); err != nil {
			return err
		}
		return s.switchTTL(tx, t, wanted)
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"TimeToLiveSpecification": wanted})
}

func checkTTL(t *table, wanted ttlSpecification) error {
	switch {
	case wanted.Enabled && t.TTL == wanted.AttributeName:
		return validation("TimeToLive is already enabled")
	case wanted.Enabled && t.TTL != "":
		return validation("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.TTL)
	case !wanted.Enabled && t.TTL == "":
		return validation("TimeToLive is already disabled")
	case !wanted.Enabled && t.TTL != wanted.AttributeName:
		return validation("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.TTL)
	}
	return nil
}

// switchTTL makes or drops the list of expiries along with the setting.
func (s *Service) switchTTL(tx kv.Tx, t *table, wanted ttlSpecification) error {
	changed := *t
	changed.TTL = ""
	clearSpace(tx, t.expirySpace)
	if wanted.Enabled {
		changed.TTL = wanted.AttributeName
		if err := listExpiries(tx, &changed); err != nil {
			return err
		}
	}
	return saveTable(tx, &changed)
}

func listExpiries(tx kv.Tx, t *table) (err error) {
	var rows [][]byte
	tx.Ascend(t.itemSpace, nil, func(row, stored []byte) bool {
		var item attr.Item
		if item, err = attr.Record(stored); err != nil {
			return false
		}
		if expiry := expiryRow(t, item, row); expiry != nil {
			rows = append(rows, expiry)
		}
		return true
	})
	for _, row := range rows {
		tx.Put(t.expirySpace, row, []byte{})
	}
	return err
}

func (s *Service) describeTimeToLive(body []byte) ([]byte, error) {
	var in struct{ TableName string }
	if err := decodeControl("DescribeTimeToLive", body, &in); err != nil {
		return nil, err
	}
	description := map[string]string{"TimeToLiveStatus": "DISABLED"}
	err := s.engine.View(func(tx kv.Tx) error {
		t, err := s.lookup(tx, in.TableName)
		if err != nil {
			return modelFault("ResourceNotFoundException", "Requested resource not found: Table: "+in.TableName+" not found")
		}
		if t.TTL != "" {
			description = map[string]string{"TimeToLiveStatus": "ENABLED", "AttributeName": t.TTL}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"TimeToLiveDescription": description})
}
