package parts

import (
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// FunctionShape is what makes one function different from the others.
type FunctionShape struct {
	Folder   string // of its main, and of its bootstrap among what was built
	Pool     string // the pool that it serves; empty = all, or none
	Says     string // what it is for, in a sentence
	MemoryMB int
	Timeout  time.Duration
	Reserved int           // concurrency of its own; zero = it shares the account's
	Chains   bool          // it sends to a queue that invokes it or its like: a chain that is meant
	Secrets  bool          // it is told the secret, and may read it
	Archive  awss3.IBucket // the archive's bucket, of which it is told; nil = it is not
	Objects  bool          // it is told the bucket for what is too large for the tables, and where payloads may lie
}

// Function is a function with what belongs to it.
type Function struct {
	awslambda.Function
	Role awsiam.Role
}

// NewFunction makes a function that may do nothing but write its own log and
// tell its traces. What else it may, its caller grants. A function that is
// invoked and not waited for puts what it failed with into failures; nil = it is
// always waited for.
func NewFunction(scope constructs.Construct, id string, i Installation, shape FunctionShape, failures awssqs.IQueue) Function {
	name := i.FunctionName(shape.Folder, shape.Pool)
	within := constructs.NewConstruct(scope, &id)
	log := i.NewLogGroup(within, "/aws/lambda/"+name)
	role := awsiam.NewRole(within, jsii.String("Role"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil), Description: jsii.String("What the function " + name + " may.")})
	log.GrantWrite(role)
	props := &awslambda.FunctionProps{
		FunctionName: &name, Description: &shape.Says, Role: role, LogGroup: log, Tracing: awslambda.Tracing_ACTIVE,
		Runtime: awslambda.Runtime_PROVIDED_AL2023(), Architecture: i.architecture(), Handler: jsii.String("bootstrap"),
		Code: awslambda.Code_FromAsset(i.built(shape.Folder), nil), MemorySize: jsii.Number(shape.MemoryMB), Timeout: seconds(int(shape.Timeout / time.Second)),
		Environment: i.told(shape), RecursiveLoop: recursion(shape.Chains), ReservedConcurrentExecutions: i.reserved(shape.Reserved),
	}
	if failures != nil {
		// The next minute is a better answer than a second try of this one.
		props.RetryAttempts, props.MaxEventAge, props.OnFailure = jsii.Number(0), seconds(60), awslambdadestinations.NewSqsDestination(failures)
	}
	f := Function{Role: role, Function: awslambda.NewFunction(within, jsii.String("Function"), props)}
	acceptKeyWords(i, role)
	if arn := i.Settings.Webhooks.SecretARN; shape.Secrets && arn != "" {
		grant(role, "secretsmanager:", []string{"GetSecretValue"}, &arn)
	}
	i.grantTraces(role)
	Accept(role, "AwsSolutions-IAM5", "Traces have no resource that a right could be narrowed to.", "Resource::*")
	NewAlarm(within, "Errors", i, AlarmShape{Name: name[len(i.Settings.Prefix)+1:] + "-errors", Runbook: "function-errors",
		Says:   "The function " + name + " ends in errors: it crashes, runs out of time, or what it calls is not there.",
		Metric: Measure{Namespace: "AWS/Lambda", Name: "Errors", Statistic: "Sum", Of: map[string]string{"FunctionName": name}}.Metric(), AtLeast: 1, For: 3, Of: 5})
	return f
}

// NewLogGroup makes a log group that goes with its stack.
func (i Installation) NewLogGroup(scope constructs.Construct, name string) awslogs.LogGroup {
	return awslogs.NewLogGroup(scope, jsii.String("Log"), &awslogs.LogGroupProps{LogGroupName: &name, Retention: retention(i.Settings.LogDays),
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY})
}

func (i Installation) told(shape FunctionShape) *map[string]*string {
	told := i.Environment()
	if shape.Pool != "" {
		told["BELFRY_POOL"] = &shape.Pool
	}
	if shape.Archive != nil {
		told["BELFRY_ARCHIVE_BUCKET"] = shape.Archive.BucketName()
	}
	if shape.Objects {
		i.tellObjects(told)
	}
	if rules := i.Settings.Secrets; shape.Secrets && len(rules) > 0 {
		told["BELFRY_SECRETS"] = jsii.String(strings.Join(rules, ","))
	}
	if arn := i.Settings.Webhooks.SecretARN; shape.Secrets && arn != "" {
		// Its name: whoever may look at a function sees what it is told.
		told["BELFRY_WEBHOOK_SECRET_ARN"] = &arn
	}
	return &told
}

func (i Installation) reserved(n int) *float64 {
	if n == 0 || !i.Settings.Functions.ReservedConcurrency {
		return nil
	}
	return jsii.Number(n)
}

func (i Installation) architecture() awslambda.Architecture {
	if i.Settings.Architecture == "x86_64" {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

// recursion lets a chain of function and queue go on that is meant; the
// platform would cut it after 16 links.
func recursion(meant bool) awslambda.RecursiveLoop {
	if meant {
		return awslambda.RecursiveLoop_ALLOW
	}
	return awslambda.RecursiveLoop_TERMINATE
}

// retention is the CDK's word for that many days.
func retention(days int) awslogs.RetentionDays {
	words := map[int]awslogs.RetentionDays{1: awslogs.RetentionDays_ONE_DAY, 3: awslogs.RetentionDays_THREE_DAYS, 5: awslogs.RetentionDays_FIVE_DAYS,
		7: awslogs.RetentionDays_ONE_WEEK, 14: awslogs.RetentionDays_TWO_WEEKS, 30: awslogs.RetentionDays_ONE_MONTH, 60: awslogs.RetentionDays_TWO_MONTHS,
		90: awslogs.RetentionDays_THREE_MONTHS, 120: awslogs.RetentionDays_FOUR_MONTHS, 150: awslogs.RetentionDays_FIVE_MONTHS, 180: awslogs.RetentionDays_SIX_MONTHS,
		365: awslogs.RetentionDays_ONE_YEAR, 400: awslogs.RetentionDays_THIRTEEN_MONTHS, 545: awslogs.RetentionDays_EIGHTEEN_MONTHS, 731: awslogs.RetentionDays_TWO_YEARS,
		1827: awslogs.RetentionDays_FIVE_YEARS, 3653: awslogs.RetentionDays_TEN_YEARS}
	return words[days]
}
