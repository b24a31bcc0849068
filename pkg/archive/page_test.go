package archive

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheTablesOfThePageHaveTheColumnsOfTheRows holds what people paste into
// Athena against what is written.
func TestTheTablesOfThePageHaveTheColumnsOfTheRows(t *testing.T) {
	page, err := os.ReadFile("../../docs/archive.md")
	if err != nil {
		t.Fatal(err)
	}
	types := map[reflect.Kind]string{reflect.String: "string", reflect.Int: "int", reflect.Int64: "bigint", reflect.Struct: "string", reflect.Pointer: "string"}
	for kind, row := range map[Kind]any{Transition: transition{}, Audit: audit{}, Unread: unread{}} {
		var want []string
		for field := range reflect.TypeOf(row).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "tenant" { // it is a partition
				want = append(want, name+" "+types[field.Type.Kind()])
			}
		}
		table := regexp.MustCompile(`(?s)CREATE EXTERNAL TABLE belfry\.` + string(kind) + `_rows \(\n(.*?)\n\)\nPARTITIONED BY \(tenant string, day string\)(.*?);`).FindSubmatch(page)
		if table == nil {
			t.Errorf("the page makes no table of kind %s", kind)
			continue
		}
		var got []string
		for column := range strings.SplitSeq(string(table[1]), ",") {
			got = append(got, strings.TrimSpace(column))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the table of kind %s has the columns\n  %q\nits rows have\n  %q", kind, got, want)
		}
		o := Object{Kind: kind, Tenant: "${tenant}", Date: "${day}", Rows: []Row{{}}}
		place := o.Name()[:strings.LastIndexByte(o.Name(), '/')+1]
		for _, part := range []string{"LOCATION 's3://BUCKET/kind=" + string(kind) + "/'", "'storage.location.template' = 's3://BUCKET/" + place + "'"} {
			if !strings.Contains(string(table[2]), part) {
				t.Errorf("the table of kind %s does not say %s", kind, part)
			}
		}
	}
}
