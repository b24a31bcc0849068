package dynamo_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

func (b bundle) wantDue(when string, want ...string) {
	b.Helper()
	if got := b.due(); !slices.Equal(got, want) {
		b.Errorf("%s the index holds %q, want %q", when, got, want)
	}
}

func TestAnIndexSeesAWriteOneLagLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, kv.NewMemory(), dynamo.Options{IndexLag: 2 * time.Second})
		b.createJobs("KEYS_ONLY")
		b.put(job("1", "10"))
		time.Sleep(time.Second)
		b.put(job("2", "5"))
		out, err := b.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: jobs, Key: item{"pk": s("a"), "sk": s("1")}})
		done(b, out, err)
		b.wantDue("at once")
		time.Sleep(time.Second)
		b.wantDue("after the first lag", "1")
		time.Sleep(time.Second)
		b.wantDue("after the second lag", "2")
	})
}

func TestWritesUnderAShorterLagDoNotOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, kv.NewMemory(), dynamo.Options{IndexLag: time.Minute})
		b.createJobs("KEYS_ONLY")
		b.put(job("1", "10"))
		b.service.SetIndexLag(0)
		b.put(job("1", "20"), job("2", "15"))
		b.wantDue("at once")
		time.Sleep(time.Minute)
		b.wantDue("after the lag", "2", "1")
		b.put(job("3", "1"))
		b.wantDue("without a lag", "3", "2", "1")
	})
}

func TestChangesThatWaitSurviveAnotherService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := kv.NewMemory()
		b := setup(t, engine, dynamo.Options{IndexLag: time.Minute})
		b.createJobs("KEYS_ONLY")
		b.put(job("1", "10"))
		b = setup(t, engine, dynamo.Options{})
		b.wantDue("at once")
		time.Sleep(time.Minute)
		b.wantDue("after the lag", "1")
	})
}
