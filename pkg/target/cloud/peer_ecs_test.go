//go:build conformance

package cloud

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	ecstypes "github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// network is an id of the peer's own network, by the EC2 call that lists such: a
// task with a network of its own has to be in one that is there.
func (p *peer) network(action string, form *regexp.Regexp) string {
	p.Helper()
	request, err := http.NewRequestWithContext(p.Context(), http.MethodPost, *p.config.BaseEndpoint, strings.NewReader(url.Values{"Action": {action}, "Version": {"2016-11-15"}}.Encode()))
	if err != nil {
		p.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260712/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=0")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	id := form.FindString(string(text))
	if err != nil || id == "" {
		p.Fatalf("%s: %v: %s", action, err, text)
	}
	return id
}

// report is a target with a cluster and a task definition of its own.
func (p *peer) report(client *ecs.Client) *job.ECSTarget {
	p.Helper()
	cluster, family := "batch"+p.suffix, "report"+p.suffix
	if _, err := client.CreateCluster(p.Context(), &ecs.CreateClusterInput{ClusterName: &cluster}); err != nil {
		p.Fatal(err)
	}
	_, err := client.RegisterTaskDefinition(p.Context(), &ecs.RegisterTaskDefinitionInput{Family: &family, Cpu: aws.String("256"), Memory: aws.String("512"), NetworkMode: ecstypes.NetworkModeAwsvpc,
		RequiresCompatibilities: []ecstypes.Compatibility{ecstypes.CompatibilityFargate}, ContainerDefinitions: []ecstypes.ContainerDefinition{{Name: aws.String("main"), Image: aws.String("report:1"), Memory: aws.Int32(512)}}})
	if err != nil {
		p.Fatal(err)
	}
	return &job.ECSTarget{Cluster: cluster, TaskDefinition: family, LaunchType: "FARGATE", PublicIP: true,
		Subnets: []string{p.network("DescribeSubnets", regexp.MustCompile(`subnet-[0-9a-f]+`))}, SecurityGroups: []string{p.network("DescribeSecurityGroups", regexp.MustCompile(`sg-[0-9a-f]+`))},
		Containers: []job.ContainerOverride{{Name: "main", Command: []string{"report", "--all"}, Environment: map[string]string{"LEVEL": "debug"}}}}
}

func TestATaskIsToldItsExecutionOnAPeer(t *testing.T) {
	p := newPeer(t)
	client := ecs.NewFromConfig(p.config)
	target := job.Target{ECS: p.report(client)}
	if err := p.there.run(t.Context(), workertest.Attempt(facts(target, `{"a":1}`))); err != nil {
		t.Fatal(err)
	}
	task := p.task(client, target.ECS.Cluster)
	told := map[string]string{}
	for _, v := range task.Overrides.ContainerOverrides[0].Environment {
		told[*v.Name] = *v.Value
	}
	for name, value := range map[string]string{"LEVEL": "debug", "BELFRY_PAYLOAD": `{"a":1}`, "BELFRY_EXECUTION_ID": "nightly~20260712T013000Z~v3", "BELFRY_IDEMPOTENCY_KEY": "acme/nightly~20260712T013000Z",
		"BELFRY_FENCING_TOKEN": "9", "BELFRY_ATTEMPT": "2", "BELFRY_DEADLINE": "2026-07-12T01:31:00.000Z", "BELFRY_TENANT": "acme"} {
		if told[name] != value {
			t.Errorf("%s arrived as %q, want %q", name, told[name], value)
		}
	}
	if command := task.Overrides.ContainerOverrides[0].Command; len(command) != 2 || command[1] != "--all" || !strings.HasPrefix(aws.ToString(task.StartedBy), "belfry/nightly_") {
		t.Errorf("command %v, started by %q", command, aws.ToString(task.StartedBy))
	}
}

// task is the one task of a cluster.
func (p *peer) task(client *ecs.Client, cluster string) ecstypes.Task {
	p.Helper()
	list, err := client.ListTasks(p.Context(), &ecs.ListTasksInput{Cluster: &cluster})
	if err != nil || len(list.TaskArns) != 1 {
		p.Fatalf("%d tasks, %v; want one", len(list.TaskArns), err)
	}
	out, err := client.DescribeTasks(p.Context(), &ecs.DescribeTasksInput{Cluster: &cluster, Tasks: list.TaskArns})
	if err != nil || len(out.Tasks) != 1 {
		p.Fatal(err)
	}
	return out.Tasks[0]
}
