package object_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/object"
)

func (b *bench) draft(token int64) *object.Draft {
	b.Helper()
	d, err := object.NewDraft(b.client, &s3.PutObjectInput{Bucket: &b.name, Key: aws.String("daily")}, fence(token))
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func (b *bench) add(d *object.Draft, parts ...string) {
	b.Helper()
	for i, text := range parts {
		if err := d.Add(b.Context(), fmt.Sprint("part-", i), strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// whole is what a reader finds: the texts of all parts, each as its digest says.
func (b *bench) whole() string {
	b.Helper()
	m, err := object.ReadManifest(b.Context(), b.client, b.name, "daily")
	if err != nil {
		return string(job.CodeOf(err))
	}
	var texts []string
	for _, p := range m.Parts {
		out, err := b.client.GetObject(b.Context(), &s3.GetObjectInput{Bucket: &b.name, Key: &p.Object})
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(out.Body)
		_ = out.Body.Close()
		if err != nil || int64(len(text)) != p.Size {
			b.Errorf("%s has %d bytes, %v; its manifest says %d", p.Name, len(text), err, p.Size)
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, "+")
}

func TestReadersSeeAResultOfSeveralPartsWholeOrNotAtAll(t *testing.T) {
	b := setup(t)
	first := b.draft(1)
	b.add(first, "a1", "b1", "c1")
	if got := b.whole(); got != string(job.CodeNotFound) {
		t.Errorf("before it is published a reader finds %s", got)
	}
	if _, err := first.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := b.draft(2)
	b.add(second, "a2", "b2")
	if got := b.whole(); got != "a1+b1+c1" {
		t.Errorf("while the next one is made a reader finds %s", got)
	}
	if _, err := second.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.whole(); got != "a2+b2" {
		t.Errorf("then a reader finds %s", got)
	}
	b.add(first, "a1 again")
	if _, err := first.Publish(t.Context()); !errors.Is(err, idempotent.ErrFenced) {
		t.Errorf("the older attempt publishes: %v", err)
	}
	if got := b.whole(); got != "a2+b2" {
		t.Errorf("after it a reader finds %s", got)
	}
}

func TestAPartThatIsAddedAgainTakesThePlaceOfTheOneBefore(t *testing.T) {
	b := setup(t)
	d := b.draft(1)
	b.add(d, "a", "b")
	b.add(d, "a", "b, mended", "c")
	for range 2 { // publishing may be repeated
		if m, err := d.Publish(t.Context()); err != nil || len(m.Parts) != 3 {
			t.Errorf("%d parts, %v", len(m.Parts), err)
		}
	}
	if got := b.whole(); got != "a+b, mended+c" {
		t.Errorf("a reader finds %s", got)
	}
}

func TestAResultMayHaveNoParts(t *testing.T) {
	b := setup(t)
	if _, err := b.draft(1).Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m, err := object.ReadManifest(t.Context(), b.client, b.name, "daily"); err != nil || len(m.Parts) != 0 {
		t.Errorf("a reader finds %+v, %v", m, err)
	}
}

func TestWhatIsPublishedWithoutPartsIsNoManifest(t *testing.T) {
	b := setup(t)
	if _, err := object.Publish(t.Context(), b.client, b.report("no parts"), fence(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := object.ReadManifest(t.Context(), b.client, b.name, "daily"); job.CodeOf(err) != job.CodeInvalid {
		t.Errorf("it answers %v", err)
	}
}

// A result of two parts, registered at once.
func ExampleDraft() {
	ctx := context.Background()
	client, name, err := bucket(ctx)
	if err != nil {
		panic(err)
	}
	d, err := object.NewDraft(client, &s3.PutObjectInput{Bucket: &name, Key: aws.String("exports/2026-07-12")}, fence(1))
	if err != nil {
		panic(err)
	}
	for _, country := range []string{"de", "fr"} {
		if err := d.Add(ctx, country+".csv", strings.NewReader("rows of "+country)); err != nil {
			panic(err)
		}
	}
	if _, err := d.Publish(ctx); err != nil {
		panic(err)
	}
	m, err := object.ReadManifest(ctx, client, name, "exports/2026-07-12")
	for _, p := range m.Parts {
		fmt.Println(p.Name, p.Size, err)
	}
	// Output:
	// de.csv 10 <nil>
	// fr.csv 10 <nil>
}
