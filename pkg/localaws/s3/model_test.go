package s3_test

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// modelObject is an object as the model sees it.
type modelObject struct {
	content string
	written time.Time
}

func (o modelObject) tag() string {
	sum := md5.Sum([]byte(o.content))
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// model is the naive bucket: a map.
type model struct {
	*sdk.Client
	backend *localaws.Backend
	objects map[string]modelObject
}

func (m *model) key(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "a/1", "a/2", "a/10", "a/", "ab", "b", "é"}).Draw(t, "key")
}

// condition is none, one that may hold, or one that cannot.
func (m *model) condition(t *rapid.T, key string) string {
	other := modelObject{content: "another"}
	return rapid.SampledFrom([]string{"", m.objects[key].tag(), other.tag()}).Draw(t, "condition")
}

// verdict is what a write under If-Match is answered.
func (m *model) verdict(key, match string) string {
	there, exists := m.objects[key]
	switch {
	case match == "":
		return ""
	case !exists:
		return "NoSuchKey"
	case match != there.tag():
		return "PreconditionFailed"
	}
	return ""
}

func (m *model) put(t *rapid.T) {
	key, content := m.key(t), rapid.StringMatching(`[0-9]{0,12}`).Draw(t, "content")
	in := &sdk.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader(content)}
	match := m.condition(t, key)
	want := m.verdict(key, match)
	if match != "" {
		in.IfMatch = &match
	} else if rapid.Bool().Draw(t, "only where nothing is") {
		in.IfNoneMatch = aws.String("*")
		if _, exists := m.objects[key]; exists {
			want = "PreconditionFailed"
		}
	}
	_, err := m.PutObject(t.Context(), in)
	if codeOf(err) != want {
		t.Fatalf("put of %s was answered %v, want %q", key, err, want)
	}
	if want == "" {
		m.objects[key] = modelObject{content, time.Now()}
	}
}

func (m *model) delete(t *rapid.T) {
	key := m.key(t)
	in := &sdk.DeleteObjectInput{Bucket: aws.String(bucket), Key: &key}
	match := m.condition(t, key)
	if match != "" {
		in.IfMatch = &match
	}
	want := m.verdict(key, match)
	if _, err := m.DeleteObject(t.Context(), in); codeOf(err) != want {
		t.Fatalf("delete of %s was answered %v, want %q", key, err, want)
	}
	if want == "" {
		delete(m.objects, key)
	}
}

func (m *model) read(t *rapid.T) {
	key, from, to := m.key(t), rapid.IntRange(0, 13).Draw(t, "from"), rapid.IntRange(0, 13).Draw(t, "to")
	out, err := m.GetObject(t.Context(), &sdk.GetObjectInput{Bucket: aws.String(bucket), Key: &key, Range: aws.String(fmt.Sprintf("bytes=%d-%d", from, to))})
	there, exists := m.objects[key]
	want, code := there.content, ""
	switch {
	case !exists:
		code = "NoSuchKey"
	case to < from: // malformed: the whole
	case from >= len(want):
		code = "InvalidRange"
	default:
		want = want[from:min(len(want), to+1)]
	}
	if codeOf(err) != code || err != nil && code == "" {
		t.Fatalf("read of %s [%d-%d] was answered %v, want %q", key, from, to, err, code)
	}
	if err != nil {
		return
	}
	if got, err := io.ReadAll(out.Body); err != nil || string(got) != want {
		t.Fatalf("%s [%d-%d] reads %q, %v; want %q", key, from, to, got, err, want)
	}
}

func (m *model) expire(t *rapid.T) {
	prefix, age := rapid.SampledFrom([]string{"", "a/", "b"}).Draw(t, "prefix"), time.Duration(rapid.IntRange(0, 20).Draw(t, "age"))*time.Minute
	removed, err := m.backend.ExpireObjects(bucket, prefix, age)
	if err != nil {
		t.Fatal(err)
	}
	before := len(m.objects)
	maps.DeleteFunc(m.objects, func(key string, o modelObject) bool {
		return strings.HasPrefix(key, prefix) && time.Since(o.written) >= age
	})
	if removed != before-len(m.objects) {
		t.Fatalf("%d objects expired, want %d", removed, before-len(m.objects))
	}
}

func (m *model) sleep(t *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 600).Draw(t, "seconds")) * time.Second)
}

// check lists everything, page by page, with and without folders.
func (m *model) check(t *rapid.T) {
	prefix, page := rapid.SampledFrom([]string{"", "a", "a/", "c"}).Draw(t, "prefix"), rapid.Int32Range(1, 4).Draw(t, "page")
	in := &sdk.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: &prefix, MaxKeys: &page}
	folders, after := rapid.Bool().Draw(t, "folders"), ""
	if folders {
		in.Delimiter = aws.String("/")
	} else if after = rapid.SampledFrom([]string{"", "a", "a/1", "b"}).Draw(t, "after"); after != "" {
		in.StartAfter = &after
	}
	got := []string{}
	pages := sdk.NewListObjectsV2Paginator(m.Client, in)
	for pages.HasMorePages() {
		out, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range out.Contents {
			got = append(got, fmt.Sprintf("%s %s %d %s", *one.Key, *one.ETag, *one.Size, one.LastModified.UTC()))
		}
		for _, one := range out.CommonPrefixes {
			got = append(got, *one.Prefix)
		}
	}
	slices.Sort(got) // a page tells its folders behind its objects
	if want := m.listed(prefix, after, folders); !slices.Equal(got, want) {
		t.Fatalf("%q lists\n%q, want\n%q", prefix, got, want)
	}
}

func (m *model) listed(prefix, after string, folders bool) []string {
	lines := map[string]bool{}
	for key, o := range m.objects {
		rest, under := strings.CutPrefix(key, prefix)
		switch first, _, inside := strings.Cut(rest, "/"); {
		case !under || key <= after:
		case folders && inside:
			lines[prefix+first+"/"] = true
		default:
			lines[fmt.Sprintf("%s %s %d %s", key, o.tag(), len(o.content), o.written.UTC().Truncate(time.Millisecond))] = true
		}
	}
	return slices.Sorted(maps.Keys(lines))
}

func newModel(t *rapid.T) *model {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := &model{Client: sdk.NewFromConfig(backend.Config()), backend: backend, objects: map[string]modelObject{}}
	if _, err := m.CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil {
		t.Fatal(err)
	}
	return m
}

// Whatever is written on whatever condition, reads and lists answer as a map
// would.
func TestBucketAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			m := newModel(t)
			t.Repeat(map[string]func(*rapid.T){"put": m.put, "delete": m.delete, "read": m.read, "expire": m.expire, "sleep": m.sleep, "": m.check})
		})
	})
}
