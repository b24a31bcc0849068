package dynamo

import (
	"encoding/json"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// maxListed is how many names one ListTables returns.
const maxListed = 100

func (s *Service) listTables(body []byte) ([]byte, error) {
	in := struct {
		ExclusiveStartTableName string
		Limit                   *int
	}{}
	if err := decodeControl("ListTables", body, &in); err != nil {
		return nil, err
	}
	limit := maxListed
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 1 || limit > maxListed {
		return nil, constraint("'"+formatInt(int64(limit))+"'", "limit", "Member must have value between 1 and 100")
	}
	answer := struct {
		TableNames             []string
		LastEvaluatedTableName string `json:",omitempty"`
	}{TableNames: []string{}}
	for _, name := range s.tableNames() {
		if name <= in.ExclusiveStartTableName {
			continue
		}
		if len(answer.TableNames) == limit {
			answer.LastEvaluatedTableName = answer.TableNames[limit-1]
			break
		}
		answer.TableNames = append(answer.TableNames, name)
	}
	return json.Marshal(answer)
}

func (s *Service) deleteTable(body []byte) ([]byte, error) {
	var in struct{ TableName string }
	if err := decodeControl("DeleteTable", body, &in); err != nil {
		return nil, err
	}
	var description tableDescription
	err := s.engine.Update(func(tx kv.Tx) error {
		t, err := s.lookup(tx, in.TableName)
		if err != nil {
			return modelFault("ResourceNotFoundException", "Requested resource not found: Table: "+in.TableName+" not found")
		}
		if t.Protected {
			return validation("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
		}
		description = t.describe(tx, "DELETING")
		for _, space := range t.spaces() {
			clearSpace(tx, space)
		}
		tx.Delete(catalogSpace, []byte(t.Name))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"TableDescription": description})
}
