package parts

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/settings"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
)

// How long a worker that is told to stop lets running executions go on, and how
// long the platform waits for it: two minutes at most, on Fargate.
const (
	drain       = "100s"
	stopSeconds = 120
)

// health is where a worker answers how it is: within its container alone.
const health = "127.0.0.1:8080"

// WorkerPool is a pool of container workers.
type WorkerPool struct {
	Role    awsiam.IRole // what the workers may
	Service awsecs.FargateService
}

// NewWorkerPool makes the pool's service: none of its workers runs while the
// pool has nothing to do.
func NewWorkerPool(cluster awsecs.Cluster, network Network, i Installation, pool dispatch.Pool) WorkerPool {
	within := constructs.NewConstruct(cluster.Stack(), jsii.String("Pool-"+pool.Name))
	name := i.FunctionName("worker", pool.Name)
	task := awsecs.NewFargateTaskDefinition(within, jsii.String("Task"), &awsecs.FargateTaskDefinitionProps{Family: &name,
		Cpu: jsii.Number(pool.CPU), MemoryLimitMiB: jsii.Number(pool.MemoryMB), RuntimePlatform: i.platform()})
	Accept(task, "AwsSolutions-ECS2", "The variables name things and hold no secret; the one secret is referred to.")
	environment := i.Environment()
	environment["BELFRY_POOL"], environment["BELFRY_HEALTH"] = &pool.Name, jsii.String(health)
	i.tellObjects(environment)
	if rules := i.Settings.Secrets; len(rules) > 0 {
		environment["BELFRY_SECRETS"] = jsii.String(strings.Join(rules, ","))
	}
	task.AddContainer(jsii.String("worker"), &awsecs.ContainerDefinitionOptions{
		Image: i.image(), Command: jsii.Strings("--drain=" + drain), HealthCheck: healthCheck(), Environment: &environment, Secrets: i.secrets(within),
		StopTimeout: seconds(stopSeconds), ReadonlyRootFilesystem: jsii.Bool(true), User: jsii.String("65532:65532"),
		Logging: awsecs.LogDrivers_AwsLogs(&awsecs.AwsLogDriverProps{StreamPrefix: jsii.String("worker"), LogGroup: i.NewLogGroup(within, "/belfry/"+name)}),
	})
	i.grantPull(task.ObtainExecutionRole())
	i.grantTraces(task.TaskRole())
	Accept(task, "AwsSolutions-IAM5", "Getting a registry's token has no resource that a right could be narrowed to.", "Resource::*")
	closed := awsec2.NewSecurityGroup(within, jsii.String("Closed"), &awsec2.SecurityGroupProps{Vpc: network.IVpc,
		Description: jsii.String("Workers of " + name + " call out; nothing calls them."), AllowAllOutbound: jsii.Bool(true)})
	service := awsecs.NewFargateService(within, jsii.String("Service"), &awsecs.FargateServiceProps{Cluster: cluster, TaskDefinition: task, ServiceName: &name,
		DesiredCount: jsii.Number(0), MinHealthyPercent: jsii.Number(100), MaxHealthyPercent: jsii.Number(200),
		CircuitBreaker: &awsecs.DeploymentCircuitBreaker{Rollback: jsii.Bool(true)}, AssignPublicIp: &i.Settings.Workers.PublicIP,
		SecurityGroups: &[]awsec2.ISecurityGroup{closed}, VpcSubnets: network.Subnets})
	scale(within, i, pool, cluster, service)
	return WorkerPool{Role: task.TaskRole(), Service: service}
}

// GrantProtection lets the workers say that they are not to be stopped while
// they run something: the platform would give them two minutes.
func (p WorkerPool) GrantProtection(cluster awsecs.Cluster) {
	tasks := cluster.Stack().FormatArn(&awscdk.ArnComponents{Service: jsii.String("ecs"), Resource: jsii.String("task"),
		ResourceName: jsii.String(*cluster.ClusterName() + "/*")})
	awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{Grantee: p.Role, ResourceArns: &[]*string{tasks},
		Actions: jsii.Strings("ecs:GetTaskProtection", "ecs:UpdateTaskProtection")})
	Accept(p.Service.TaskDefinition(), "AwsSolutions-IAM5", "A worker's task has no name before it runs; the cluster holds nothing but workers.")
}

func (i Installation) platform() *awsecs.RuntimePlatform {
	of := awsecs.CpuArchitecture_ARM64()
	if i.Settings.Architecture == "x86_64" {
		of = awsecs.CpuArchitecture_X86_64()
	}
	return &awsecs.RuntimePlatform{CpuArchitecture: of, OperatingSystemFamily: awsecs.OperatingSystemFamily_LINUX()}
}

// image is the one that the settings name, or the one that was packed beside the
// functions. An engine is needed at deploy all the same: it loads and pushes it.
func (i Installation) image() awsecs.ContainerImage {
	if uri := i.Settings.Workers.Image; uri != settings.Asset {
		return awsecs.ContainerImage_FromRegistry(&uri, nil)
	}
	return awsecs.ContainerImage_FromTarball(jsii.String(*i.built("worker") + "/image.tar"))
}

// grantPull lets a role pull the image that the settings name, where it is in ECR.
func (i Installation) grantPull(role awsiam.IRole) {
	if repository, is := settings.ECR(i.Settings.Workers.Image); is {
		grant(role, "ecr:", []string{"GetAuthorizationToken"}, jsii.String("*"))
		grant(role, "ecr:", []string{"BatchCheckLayerAvailability", "BatchGetImage", "GetDownloadUrlForLayer"}, jsii.String(repository.ARN()))
	}
}

// healthCheck lets the worker ask itself: its image holds nothing else to ask with.
// One that gives no sign for two minutes while it is idle is replaced; one that
// runs something is left alone.
func healthCheck() *awsecs.HealthCheck {
	return &awsecs.HealthCheck{Command: jsii.Strings("CMD", "/worker", "--health"), Interval: seconds(30), Timeout: seconds(5), Retries: jsii.Number(3),
		StartPeriod: seconds(60)}
}

func (i Installation) secrets(scope constructs.Construct) *map[string]awsecs.Secret {
	arn := i.Settings.Webhooks.SecretARN
	if arn == "" {
		return nil
	}
	id := jsii.String("WebhookSecret")
	secret := awssecretsmanager.Secret_FromSecretCompleteArn(scope, id, &arn)
	return &map[string]awsecs.Secret{"BELFRY_WEBHOOK_SECRET": awsecs.Secret_FromSecretsManager(secret, nil)}
}

// workerWord is the last part of the name of a pool's service.
func (i Installation) workerWord(pool dispatch.Pool) string {
	return "worker-" + strings.ReplaceAll(pool.Name, ".", "_")
}
