package s3_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/localawstest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(localawstest.VictimDir); dir != "" {
		fmt.Fprintln(os.Stderr, playVictim(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// playVictim replaces a few objects and deletes some for ever, and says on
// stdout what it was told has been done.
func playVictim(dir string) error {
	backend, err := localaws.New(localaws.Options{Dir: dir})
	if err != nil {
		return err
	}
	client, ctx := sdk.NewFromConfig(backend.Config()), context.Background()
	if _, err := client.CreateBucket(ctx, &sdk.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil {
		return err
	}
	for n := 0; ; n++ {
		key := fmt.Sprint("k", n%5)
		_, err := client.PutObject(ctx, &sdk.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader(contentOf(n)), Metadata: map[string]string{"n": fmt.Sprint(n)}})
		if err != nil {
			return err
		}
		fmt.Println(key, n)
		if n%7 != 0 {
			continue
		}
		if _, err := client.DeleteObject(ctx, &sdk.DeleteObjectInput{Bucket: aws.String(bucket), Key: &key}); err != nil {
			return err
		}
		fmt.Println(key, "deleted")
	}
}

// contentOf is long enough to be more than one page of a file.
func contentOf(n int) string { return strings.Repeat(fmt.Sprintf("%08d", n), 2000) }

// Killed at any moment, the backend keeps everything that it has answered, and
// no half of an object.
func TestWhatWasAnsweredSurvivesKill(t *testing.T) {
	dir, said := t.TempDir(), map[string]string{}
	localawstest.Kill(t, dir, 60, func(line string) {
		key, what, _ := strings.Cut(line, " ")
		said[key] = what
	})
	if len(said) != 5 {
		t.Fatalf("the victim did too little: %v", said)
	}
	b, ahead := setup(t, localaws.Options{Dir: dir}), 0
	for key, what := range said {
		if b.stands(key) != what {
			ahead++ // the write that was under way when it died
		}
	}
	if ahead > 1 {
		t.Errorf("%d objects are not as was said of them: %v", ahead, said)
	}
}

// stands tells which put an object is of, and checks that it is whole.
func (b *bench) stands(key string) string {
	b.Helper()
	content := b.get(key)
	if content == "" {
		return "deleted"
	}
	head, err := b.HeadObject(b.Context(), &sdk.HeadObjectInput{Bucket: aws.String(bucket), Key: &key})
	if err != nil {
		b.Fatal(err)
	}
	var n int
	if _, err := fmt.Sscanf(content, "%08d", &n); err != nil || content != contentOf(n) || head.Metadata["n"] != fmt.Sprint(n) {
		b.Errorf("%s holds %.16q… of %d bytes beside metadata %v", key, content, len(content), head.Metadata)
	}
	return fmt.Sprint(n)
}
