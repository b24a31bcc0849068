package parts

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/settings"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// GrantTargets lets a role call what the settings list for targets, and read what
// they list for secrets, and nothing else: without a list a target is refused by
// AWS.
func (i Installation) GrantTargets(role awsiam.IRole) {
	all := i.Settings.Callables()
	var clusters []string
	for _, c := range all {
		if c.Kind == settings.KindCluster {
			clusters = append(clusters, c.Resource)
		}
	}
	for _, c := range all {
		if c.Actions == nil {
			continue
		}
		role.AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(c.Actions...), Resources: jsii.Strings(c.Resource), Conditions: conditions(c, clusters)}))
		i.acceptOpen(role, c.Resource)
	}
	i.grantTasks(role, clusters)
	for _, rule := range i.Settings.Secrets {
		store, name, _ := strings.Cut(rule, ":")
		action := "secretsmanager:GetSecretValue"
		if store == job.StoreSSM {
			action = "ssm:GetParameter"
			name = *awscdk.Stack_Of(role).FormatArn(&awscdk.ArnComponents{Service: jsii.String("ssm"), Resource: jsii.String("parameter"), ResourceName: jsii.String(strings.TrimPrefix(name, "/"))})
		}
		role.AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(action), Resources: jsii.Strings(name)}))
		i.acceptOpen(role, name)
	}
}

// grantTasks lets a role look at the tasks of clusters, and stop them. A list of
// tasks belongs to no resource that a right can name: the cluster is a condition.
func (i Installation) grantTasks(role awsiam.IRole, clusters []string) {
	if len(clusters) == 0 {
		return
	}
	within := conditions(settings.Callable{Kind: settings.KindTaskDefinition}, clusters)
	for _, cluster := range clusters {
		tasks := strings.TrimSuffix(strings.Replace(cluster, ":cluster/", ":task/", 1), "*")
		if !strings.HasSuffix(cluster, "*") {
			tasks += "/"
		}
		tasks += "*"
		role.AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings("ecs:DescribeTasks", "ecs:StopTask"), Resources: jsii.Strings(tasks), Conditions: within}))
		Accept(role, "AwsSolutions-IAM5", "The tasks of a cluster that the settings list: their ids are not known before they run.", "Resource::"+tasks)
	}
	role.AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings("ecs:ListTasks"), Resources: jsii.Strings("*"), Conditions: within}))
	Accept(role, "AwsSolutions-IAM5", "ecs:ListTasks names no cluster as its resource; a condition narrows it to those that the settings list.", "Resource::*")
}

// conditions narrow the rights that an ARN alone leaves too wide.
func conditions(c settings.Callable, clusters []string) *map[string]any {
	switch c.Kind {
	case settings.KindTaskDefinition:
		if slices.ContainsFunc(clusters, func(arn string) bool { return strings.HasSuffix(arn, "*") }) {
			return &map[string]any{"ArnLike": map[string]any{"ecs:cluster": clusters}}
		}
		return &map[string]any{"ArnEquals": map[string]any{"ecs:cluster": clusters}}
	case settings.KindRole:
		return &map[string]any{"StringEquals": map[string]any{"iam:PassedToService": "ecs-tasks.amazonaws.com"}}
	}
	return nil
}

// acceptOpen is about a resource that the operator left open at its end.
func (i Installation) acceptOpen(role awsiam.IRole, resource string) {
	if strings.HasSuffix(resource, "*") {
		Accept(role, "AwsSolutions-IAM5", "The settings list it so: a * at the end, or every revision of one task definition.", "Resource::"+resource)
	}
}
