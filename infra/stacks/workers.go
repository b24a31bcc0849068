package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
)

// Workers runs what outlives a function.
type Workers struct {
	Stack awscdk.Stack
}

func newWorkers(app constructs.Construct, i parts.Installation, d *Data, pools dispatch.Pools) *Workers {
	w := &Workers{Stack: stack(app, i, "workers", "Belfry: container workers")}
	d = d.seenFrom(w.Stack, i)
	i.Alarms = d.Alarms
	network := parts.NewNetwork(w.Stack, i)
	cluster := awsecs.NewCluster(w.Stack, jsii.String("Cluster"), &awsecs.ClusterProps{ClusterName: jsii.String(i.Name("workers")), Vpc: network.IVpc,
		ContainerInsightsV2: awsecs.ContainerInsights_ENABLED})
	for _, pool := range pools {
		made := parts.NewWorkerPool(cluster, network, i, pool)
		grantWorker(i, made.Role, d, pool.Name)
		made.GrantProtection(cluster)
	}
	return w
}
