package jobfile

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func (r *reader) target(t *job.Target) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.mapping(path, n, keys{
			"webhook": func(path string, n ast.Node) {
				t.Webhook = &job.Webhook{}
				r.mapping(path, n, keys{"url": text(r, &t.Webhook.URL), "headers": r.texts(&t.Webhook.Headers), "confirm_url": text(r, &t.Webhook.ConfirmURL)})
			},
			"log": func(path string, n ast.Node) {
				t.Log = &job.LogTarget{}
				if _, empty := n.(*ast.NullNode); !empty {
					r.mapping(path, n, keys{"message": text(r, &t.Log.Message)})
				}
			},
			"handler": func(path string, n ast.Node) {
				t.Handler = &job.HandlerTarget{}
				r.mapping(path, n, keys{"name": text(r, &t.Handler.Name)})
			},
			"lambda": func(path string, n ast.Node) {
				l := &job.LambdaTarget{}
				t.Lambda = l
				r.mapping(path, n, keys{"function": text(r, &l.Function), "qualifier": text(r, &l.Qualifier), "invocation": text(r, &l.Invocation)})
			},
			"sqs": func(path string, n ast.Node) {
				q := &job.SQSTarget{}
				t.SQS = q
				r.mapping(path, n, keys{"queue_url": text(r, &q.QueueURL), "group_id": text(r, &q.GroupID), "attributes": r.texts(&q.Attributes)})
			},
			"sns": func(path string, n ast.Node) {
				s := &job.SNSTarget{}
				t.SNS = s
				r.mapping(path, n, keys{"topic_arn": text(r, &s.TopicARN), "subject": text(r, &s.Subject), "group_id": text(r, &s.GroupID), "attributes": r.texts(&s.Attributes)})
			},
			"eventbridge": func(path string, n ast.Node) {
				e := &job.EventBridgeTarget{}
				t.EventBridge = e
				r.mapping(path, n, keys{"bus": text(r, &e.Bus), "source": text(r, &e.Source), "detail_type": text(r, &e.DetailType), "resources": r.list(&e.Resources)})
			},
			"stepfunctions": func(path string, n ast.Node) {
				t.StepFunctions = &job.StepFunctionsTarget{}
				r.mapping(path, n, keys{"state_machine_arn": text(r, &t.StepFunctions.StateMachineARN)})
			},
			"ecs": r.task(t),
		})
	}
}

func (r *reader) task(t *job.Target) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		e := &job.ECSTarget{}
		t.ECS = e
		r.mapping(path, n, keys{
			"cluster": text(r, &e.Cluster), "task_definition": text(r, &e.TaskDefinition), "launch_type": text(r, &e.LaunchType), "platform_version": text(r, &e.PlatformVersion),
			"subnets": r.list(&e.Subnets), "security_groups": r.list(&e.SecurityGroups), "public_ip": r.truth(&e.PublicIP), "wait": r.truth(&e.Wait),
			"capacity_providers": each(r, &e.CapacityProviders, func(p *job.CapacityProvider) keys {
				return keys{"name": text(r, &p.Name), "weight": r.number(&p.Weight), "base": r.number(&p.Base)}
			}),
			"containers": each(r, &e.Containers, func(c *job.ContainerOverride) keys {
				return keys{"name": text(r, &c.Name), "command": r.list(&c.Command), "environment": r.texts(&c.Environment)}
			}),
		})
	}
}

// each reads a list of mappings, item by item.
func each[T any](r *reader, into *[]T, known func(*T) keys) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			items, isList := v.(*ast.SequenceNode)
			if !isList {
				r.wrong(path, v, "a list", "write each item behind a dash")
				return
			}
			for i, item := range items.Values {
				var value T
				of := fmt.Sprintf("%s[%d]", path, i)
				r.lines[of] = lineOf(firstKey(item))
				r.mapping(of, item, known(&value))
				*into = append(*into, value)
			}
		})
	}
}
