package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// Data is what must not be lost.
type Data struct {
	Stack                     awscdk.Stack
	Jobs, Executions, Control awsdynamodb.Table
	Work                      map[string]parts.WorkQueue // by pool
	Archive                   awss3.IBucket              // nil = there is none
	Key                       awskms.IKey                // nil = AWS's own
	Alarms                    awssns.ITopic
}

func newData(app constructs.Construct, i parts.Installation) *Data {
	d := &Data{Stack: stack(app, i, "data", "Belfry: tables and queues"), Work: map[string]parts.WorkQueue{}}
	d.Key = parts.NewKey(d.Stack, i)
	i.Key = d.Key
	d.Alarms = parts.NewAlarmTopic(d.Stack, i)
	i.Alarms = d.Alarms
	names := i.Tables()
	d.Jobs = parts.NewTable(d.Stack, "Jobs", i, parts.TableShape{Name: names.Jobs, Indexes: []parts.Index{
		{Name: store.IndexDue, Partition: "due_shard", Sort: "next_fire_at", SortType: awsdynamodb.AttributeType_NUMBER},
		{Name: store.IndexTenant, Partition: "tenant_shard", Sort: "job", SortType: awsdynamodb.AttributeType_STRING}}})
	d.Executions = parts.NewTable(d.Stack, "Executions", i, parts.TableShape{Name: names.Executions, Expires: true, Stream: true, Indexes: []parts.Index{
		{Name: store.IndexWake, Partition: "wake_shard", Sort: "wake_at", SortType: awsdynamodb.AttributeType_NUMBER}}})
	// The archive reads audit entries from it; nobody else needs its stream.
	d.Control = parts.NewTable(d.Stack, "Control", i, parts.TableShape{Name: names.Control, Expires: true, Stream: i.Settings.Archive.Enabled})
	if i.Settings.Archive.Enabled {
		d.Archive = parts.NewArchiveBucket(d.Stack, "Archive", i)
	}
	for _, pool := range i.Pools {
		d.Work[pool.Name] = parts.NewWorkQueue(d.Stack, i, pool)
	}
	return d
}
