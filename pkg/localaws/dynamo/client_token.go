package dynamo

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// A client token is remembered for ten minutes, with a digest of what it was
// sent with.
const (
	tokenLife     = 10 * time.Minute
	tokenSpace    = "token"
	tokenAgeSpace = "tokenage"
)

// recallToken says whether the transaction was carried out before, and else
// remembers it (which the caller's transaction undoes if it is cancelled).
func recallToken(tx kv.Tx, in *transaction, now time.Time) (known bool, err error) {
	if in.token == "" {
		return false, nil
	}
	digest := in.digest()
	if stored := tx.Get(tokenSpace, []byte(in.token)); stored != nil && now.Sub(tokenTime(stored)) < tokenLife {
		if !bytes.Equal(stored[8:], digest) {
			return false, modelFault("IdempotentParameterMismatchException", "The request uses the same client token as a previous, but non-identical request.")
		}
		return true, nil
	}
	forgetTokens(tx, now)
	at := binary.BigEndian.AppendUint64(nil, uint64(now.UnixNano()))
	tx.Put(tokenSpace, []byte(in.token), append(slices.Clone(at), digest...))
	tx.Put(tokenAgeSpace, append(at, in.token...), []byte{})
	return false, nil
}

func tokenTime(stored []byte) time.Time {
	return time.Unix(0, int64(binary.BigEndian.Uint64(stored)))
}

// forgetTokens drops a few tokens that are past their life, more than one
// transaction adds.
func forgetTokens(tx kv.Tx, now time.Time) {
	var old [][]byte
	tx.Ascend(tokenAgeSpace, nil, func(key, _ []byte) bool {
		if len(old) == 3 || now.Sub(tokenTime(key)) < tokenLife {
			return false
		}
		old = append(old, bytes.Clone(key))
		return true
	})
	for _, key := range old {
		if stored := tx.Get(tokenSpace, key[8:]); stored != nil && bytes.Equal(stored[:8], key[:8]) {
			tx.Delete(tokenSpace, key[8:])
		}
		tx.Delete(tokenAgeSpace, key)
	}
}

// digest is the same for requests that mean the same, in whatever order their
// JSON has its members.
func (in *transaction) digest() []byte {
	var meaning []byte
	for _, item := range in.items {
		meaning = append(meaning, item.operation+"\x00"+item.table+"\x00"...)
		meaning = attr.AppendRecord(meaning, item.item)
		meaning = attr.AppendRecord(meaning, item.key)
		meaning = attr.AppendRecord(meaning, item.values)
		for _, text := range []*string{item.condition, item.update} {
			if text != nil {
				meaning = append(meaning, *text...)
			}
			meaning = append(meaning, 0)
		}
		names := slices.SortedFunc(slices.Values(item.names), func(a, b expr.Name) int { return strings.Compare(a.Placeholder, b.Placeholder) })
		for _, n := range names {
			meaning = append(meaning, n.Placeholder+"\x00"+n.Name+"\x00"...)
		}
	}
	digest := sha256.Sum256(meaning)
	return digest[:]
}

// billRepeat bills a repeated transaction as the reads that it was answered
// from.
func (s *Service) billRepeat(tx kv.Tx, writes []*write, b *bill) error {
	for _, w := range writes {
		p, err := w.plan(s, tx)
		if err != nil {
			return err
		}
		b.onTable(p.table.Name, 2*readUnits(p.old.Size(), true))
	}
	return nil
}
