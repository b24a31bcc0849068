//go:build conformance

package bucket_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// peer is a bucket of the endpoint that BELFRY_CONFORMANCE_ENDPOINT names, made
// as the stack makes it: versioned, and locked.
func peer(t *testing.T) shelf {
	t.Helper()
	endpoint := os.Getenv("BELFRY_CONFORMANCE_ENDPOINT")
	if endpoint == "" {
		t.Fatal("BELFRY_CONFORMANCE_ENDPOINT must name the peer; `make conformance` starts one")
	}
	config := aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	p := shelf{T: t, config: config, name: fmt.Sprintf("archive-%x", time.Now().UnixNano()), client: s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true }), names: versions}
	if _, err := p.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &p.name, ObjectLockEnabledForBucket: aws.Bool(true)}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.PutObjectLockConfiguration(t.Context(), &s3.PutObjectLockConfigurationInput{Bucket: &p.name, ObjectLockConfiguration: &types.ObjectLockConfiguration{
		ObjectLockEnabled: types.ObjectLockEnabledEnabled, Rule: &types.ObjectLockRule{DefaultRetention: &types.DefaultRetention{Mode: types.ObjectLockRetentionModeGovernance, Days: aws.Int32(1)}}}}); err != nil {
		t.Fatal(err)
	}
	return p
}

// versions are the names of all versions of all objects, sorted.
func versions(p shelf) []string {
	p.Helper()
	out, err := p.client.ListObjectVersions(p.Context(), &s3.ListObjectVersionsInput{Bucket: &p.name})
	if err != nil {
		p.Fatal(err)
	}
	var names []string
	for _, v := range out.Versions {
		names = append(names, *v.Key)
	}
	slices.Sort(names)
	return names
}

func TestABatchIsStoredOnceOnAPeer(t *testing.T)       { storedOnce(peer(t)) }
func TestWhatIsThereIsNotReplacedOnAPeer(t *testing.T) { notReplaced(peer(t)) }
func TestABucketThatIsNotThereAsksForTheBatchAgainOnAPeer(t *testing.T) {
	asksAgain(peer(t))
}
