package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/events"
)

// golden compares text with a file here. UPDATE_GOLDEN=1 writes the file.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	got = append(bytes.TrimRight(got, "\n"), '\n')
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date; see that readers in service take the change, then run with UPDATE_GOLDEN=1.\n%s", path, firstDifference(got, want))
	}
}

func firstDifference(got, want []byte) string {
	now, before := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for n := range min(len(now), len(before)) {
		if now[n] != before[n] {
			return fmt.Sprintf("line %d is now %s\nand was %s", n+1, now[n], before[n])
		}
	}
	return fmt.Sprintf("it has %d lines now and had %d", len(now), len(before))
}

func sample(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// indented is v as samples are written.
func indented(t *testing.T, v any) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// roundTrip reads a sample into v, without any member that v lacks, and wants
// the same again when v is written.
func roundTrip(t *testing.T, path string, v any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(sample(t, path)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var before, after any
	if err := json.Unmarshal(sample(t, path), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(indented(t, v), &after); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("%s comes back as\n%s", path, indented(t, v))
	}
}

func TestTheReadmeListsEveryContract(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Events\n\nThe contracts between the rooms that do not call each other. Each folder holds samples that the real writers write and the\n" +
		"real readers read; the tests here compare. This page is made from `events.Contracts`.\n\n" +
		"| contract | says | from | to | code | what may be added |\n|---|---|---|---|---|---|\n")
	var told []string
	for _, c := range events.Contracts {
		files, err := fs.Glob(events.Samples, c.Folder+"/*.json")
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no sample (%v)", c.Folder, err)
		}
		told = append(told, files...)
		links := make([]string, len(files))
		for i, file := range files {
			links[i] = fmt.Sprintf("[%s](%s)", strings.TrimSuffix(strings.TrimPrefix(file, c.Folder+"/"), ".json"), file)
		}
		fmt.Fprintf(&page, "| `%s`: %s | %s | %s | %s | %s | %s |\n", c.Folder, strings.Join(links, ", "), c.What, c.From, c.To, c.Code, c.Grows)
	}
	golden(t, "README.md", []byte(page.String()))
	all, err := fs.Glob(events.Samples, "*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if !slices.Contains(told, file) {
			t.Errorf("%s belongs to no contract", file)
		}
	}
}
