package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Object is what becomes one object of the bucket: rows of one kind, tenant and
// day, at least one, in the order of their stream.
type Object struct {
	Kind   Kind
	Tenant string
	Date   string
	Rows   []Row
}

// Cut puts rows that are kept together into objects, in the order in which
// each object's first row comes.
func Cut(rows []Row) []Object {
	type place struct {
		kind         Kind
		tenant, date string
	}
	at := map[place]int{}
	var objects []Object
	for _, r := range rows {
		p := place{r.Kind, r.Tenant, r.Date}
		n, begun := at[p]
		if !begun {
			n = len(objects)
			at[p] = n
			objects = append(objects, Object{Kind: r.Kind, Tenant: r.Tenant, Date: r.Date})
		}
		objects[n].Rows = append(objects[n].Rows, r)
	}
	return objects
}

// Name is the object's name. It is made of what is in it: two objects of one
// name have rows of the same ids, and rows of other ids have another name.
func (o Object) Name() string {
	digest := sha256.New()
	for _, r := range o.Rows {
		digest.Write([]byte(r.ID + "\n"))
	}
	first, last := o.Rows[0], o.Rows[len(o.Rows)-1]
	return fmt.Sprintf("kind=%s/tenant=%s/date=%s/%s-%s-%s.json.gz", o.Kind, o.Tenant, o.Date, plain(first.Sequence), plain(last.Sequence),
		hex.EncodeToString(digest.Sum(nil)[:10]))
}

// plain leaves of a sequence number what cannot change a name's meaning.
func plain(sequence string) string {
	const most = 64
	kept := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, sequence)
	return kept[:min(len(kept), most)]
}

// press packs objects one after the other, in memory that it keeps.
type press struct {
	to   bytes.Buffer
	gzip *gzip.Writer
}

func newPress() *press {
	p := &press{}
	p.gzip = gzip.NewWriter(&p.to)
	return p
}

// pack is the object's content: a line for each row, compressed. It is good until
// the next one is packed. The same rows give the same bytes.
func (p *press) pack(o Object) ([]byte, error) {
	p.to.Reset()
	p.gzip.Reset(&p.to)
	for _, r := range o.Rows {
		for _, part := range [][]byte{r.Line, {'\n'}} {
			if _, err := p.gzip.Write(part); err != nil {
				return nil, fmt.Errorf("pack %d rows: %w", len(o.Rows), err)
			}
		}
	}
	if err := p.gzip.Close(); err != nil {
		return nil, fmt.Errorf("pack %d rows: %w", len(o.Rows), err)
	}
	return p.to.Bytes(), nil
}
