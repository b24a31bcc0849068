package stacks

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// archiveBehind is how old the oldest change may be that is not archived yet. A
// day's worth is kept by the streams, and up to five minutes are gathered.
const archiveBehind = 15 * time.Minute

// archive keeps transitions and audit entries in the bucket. It is no part of
// record: the two read the stream side by side, and neither waits for the other.
func (c *Core) archive(i parts.Installation, d *Data) {
	if d.Archive == nil {
		return
	}
	f := parts.NewFunction(c.Stack, "Archive", i, parts.FunctionShape{Folder: "archive", Says: "Keeps transitions and audit entries beyond the tables.", MemoryMB: 512,
		Timeout: 2 * time.Minute, Archive: d.Archive}, nil)
	failures := archiveFailures(i, c)
	stream := parts.ArchiveFeed{Window: i.Settings.Archive.WindowSeconds, Failures: failures}
	// What was removed was told when it happened.
	f.FeedArchive(d.Executions, stream, map[string]any{"eventName": awslambda.FilterRule_Or(jsii.String("INSERT"), jsii.String("MODIFY"))})
	f.FeedArchive(d.Control, stream, map[string]any{"eventName": awslambda.FilterRule_IsEqual("INSERT"),
		"dynamodb": map[string]any{"Keys": map[string]any{store.PartitionKey: map[string]any{"S": awslambda.FilterRule_BeginsWith(jsii.String(store.AuditPrefix))}}}})
	grantArchive(i, f.Role, d)
	parts.Accept(f.Role, "AwsSolutions-IAM5", "Listing streams has no resource that a right could be narrowed to, and objects have no names before they are made.")
	// The age is told at each invocation, and there may be one in five minutes alone.
	age := parts.Measure{Namespace: "AWS/Lambda", Name: "IteratorAge", Statistic: "Maximum", Minutes: 15, Of: map[string]string{"FunctionName": i.FunctionName("archive", "")}}
	parts.NewAlarm(f.Function, "Behind", i, parts.AlarmShape{Name: "archive-behind", Runbook: "archive-behind",
		Says:   "Changes are not archived for 15 minutes. The streams keep them for a day.",
		Metric: age.Metric(), AtLeast: float64(archiveBehind / time.Millisecond), For: 1})
}

// archiveFailures is where the platform tells which part of a stream was given up.
func archiveFailures(i parts.Installation, c *Core) awssqs.Queue {
	return parts.NewFailureQueueOf(c.Stack, "ArchiveFailures", i, parts.AlarmShape{Name: "archive-failures-not-empty", Runbook: "archive-failures",
		Says: "A part of a stream was given up and is not in the archive. The message says which; the stream keeps it for hours."})
}
