//go:build conformance

package cloud

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// steps lets a task of the peer go one step of its life further with every so many
// looks at it.
func (p *peer) steps(body string) {
	p.Helper()
	answer, err := http.Post(*p.config.BaseEndpoint+"/moto-api/state-manager/set-transition", "application/json", strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	_ = answer.Body.Close()
}

func TestATaskIsWaitedForAndFoundAgainOnAPeer(t *testing.T) {
	p := newPeer(t)
	p.steps(`{"model_name":"ecs::task","transition":{"progression":"manual","times":1000}}`)
	defer p.steps(`{"model_name":"ecs::task","transition":{"progression":"immediate"}}`)
	client := ecs.NewFromConfig(p.config)
	target := job.Target{ECS: p.report(client)}
	target.ECS.Wait = true
	attempt := func(number int, cause error, after time.Duration) error {
		ctx, end := context.WithCancelCause(t.Context())
		defer end(nil)
		if cause != nil {
			defer time.AfterFunc(after, func() { end(cause) }).Stop()
		}
		f := facts(target, "")
		f.Number = number
		return p.there.run(ctx, workertest.Attempt(f))
	}
	if err := attempt(1, errors.New("the worker stops"), 2*time.Second); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if task := p.task(client, target.ECS.Cluster); aws.ToString(task.LastStatus) != "RUNNING" {
		t.Fatalf("after its worker's stop the task is %s", aws.ToString(task.LastStatus))
	}
	if err := attempt(2, worker.ErrCanceled, 2*time.Second); err == nil {
		t.Error("what was canceled went well")
	}
	task := p.task(client, target.ECS.Cluster) // the one
	if aws.ToString(task.LastStatus) != "STOPPED" || aws.ToString(task.StoppedReason) != ours+"the execution was canceled" {
		t.Errorf("the task is %s for %q", aws.ToString(task.LastStatus), aws.ToString(task.StoppedReason))
	}
}

func TestATaskThatEndsWellOnAPeer(t *testing.T) {
	p := newPeer(t)
	p.steps(`{"model_name":"ecs::task","transition":{"progression":"manual","times":1}}`)
	defer p.steps(`{"model_name":"ecs::task","transition":{"progression":"immediate"}}`)
	client := ecs.NewFromConfig(p.config)
	target := job.Target{ECS: p.report(client)}
	target.ECS.Wait = true
	if err := p.there.run(t.Context(), workertest.Attempt(facts(target, ""))); err != nil {
		t.Error(err)
	}
	if task := p.task(client, target.ECS.Cluster); aws.ToString(task.LastStatus) != "STOPPED" {
		t.Errorf("it was left %s", aws.ToString(task.LastStatus))
	}
}
