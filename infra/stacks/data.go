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
	Jobs, Executions, Control awsdynamodb.ITable
	Work                      map[string]parts.WorkQueue // by pool
	Archive                   awss3.IBucket              // nil = there is none
	Objects                   awss3.IBucket              // for what is too large for the tables
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
	executions := parts.NewTable(d.Stack, "Executions", i, parts.TableShape{Name: names.Executions, Expires: true, Stream: true, Indexes: []parts.Index{
		{Name: store.IndexWake, Partition: "wake_shard", Sort: "wake_at", SortType: awsdynamodb.AttributeType_NUMBER}}})
	// The archive alone reads its stream, which is there without the archive, too: it
	// costs nothing unread, and what reads it can come and go.
	control := parts.NewTable(d.Stack, "Control", i, parts.TableShape{Name: names.Control, Expires: true, Stream: true})
	i.TellStream(executions, executionsStream)
	i.TellStream(control, controlStream)
	d.Executions, d.Control = executions, control
	d.Objects = parts.NewDataBucket(d.Stack, "Objects", i)
	if i.Settings.Archive.Enabled {
		d.Archive = parts.NewArchiveBucket(d.Stack, "Archive", i)
	}
	for _, pool := range i.Pools {
		d.Work[pool.Name] = parts.NewWorkQueue(d.Stack, i, pool)
	}
	return d
}

// The words of the streams that are told to other stacks.
const (
	executionsStream = "executions"
	controlStream    = "control"
)

// seenFrom is the same as another stack refers to it: by names, so that either can
// be deployed with other settings before the other. What it deploys comes after.
func (d *Data) seenFrom(s awscdk.Stack, i parts.Installation) *Data {
	s.AddStackDependency(d.Stack, nil)
	i.Key = d.Key
	names := i.Tables()
	seen := &Data{Stack: d.Stack, Key: d.Key, Work: map[string]parts.WorkQueue{}, Alarms: i.SeenTopic(s, "SeenAlarms"),
		Jobs:       i.SeenTable(s, "SeenJobs", names.Jobs, ""),
		Executions: i.SeenTable(s, "SeenExecutions", names.Executions, executionsStream),
		Control:    i.SeenTable(s, "SeenControl", names.Control, controlStream)}
	seen.Objects = i.SeenDataBucket(s, "SeenObjects")
	if d.Archive != nil {
		seen.Archive = i.SeenBucket(s, "SeenArchive")
	}
	for _, pool := range i.Pools {
		seen.Work[pool.Name] = i.SeenWork(s, pool.Name)
	}
	return seen
}
