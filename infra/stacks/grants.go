package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// What each function may, as the calls in its code need it; a test derives them
// from the code and compares. What a queue's or a stream's mapping needs is
// granted with the mapping.

func grantTick(i parts.Installation, role awsiam.IRole, d *Data, c *Core) {
	parts.GrantTable(role, d.Jobs, "GetItem", "Query", "Scan", "UpdateItem", "PutItem", "DeleteItem")
	parts.GrantTable(role, d.Executions, "Query", "UpdateItem")
	parts.GrantTable(role, d.Control, "GetItem", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem")
	parts.GrantQueue(role, c.scans, "GetQueueUrl", "SendMessage")
	parts.GrantQueue(role, c.ticks, "GetQueueUrl", "SendMessage")
	i.GrantKey(role)
}

func grantScan(i parts.Installation, role awsiam.IRole, d *Data) {
	parts.GrantTable(role, d.Jobs, "GetItem", "BatchGetItem", "PutItem", "UpdateItem")
	parts.GrantIndex(role, d.Jobs, store.IndexDue)
	parts.GrantTable(role, d.Executions, "BatchGetItem", "Query", "UpdateItem")
	parts.GrantIndex(role, d.Executions, store.IndexWake)
	parts.GrantTable(role, d.Control, "GetItem", "PutItem", "DeleteItem", "ConditionCheckItem")
	grantSend(i, role, d)
}

// grantSend lets a role send executions to every pool.
func grantSend(i parts.Installation, role awsiam.IRole, d *Data) {
	for _, pool := range i.Pools {
		parts.GrantQueue(role, d.Work[pool.Name].Main, "GetQueueUrl", "SendMessage")
		parts.GrantQueue(role, d.Work[pool.Name].Isolation, "GetQueueUrl", "SendMessage")
	}
	i.GrantKey(role)
}

func grantWork(i parts.Installation, role awsiam.IRole, d *Data, pool string) {
	grantExecute(role, d)
	q := d.Work[pool]
	parts.GrantQueue(role, q.Main, "GetQueueUrl", "SendMessage", "DeleteMessage", "ChangeMessageVisibility")
	parts.GrantQueue(role, q.Isolation, "GetQueueUrl", "SendMessage", "DeleteMessage", "ChangeMessageVisibility")
	i.GrantProgress(role, d.Objects)
	i.GrantKey(role)
	i.GrantTargets(role)
}

// grantExecute lets a role claim, keep and settle executions.
func grantExecute(role awsiam.IRole, d *Data) {
	parts.GrantTable(role, d.Jobs, "GetItem")
	parts.GrantTable(role, d.Executions, "GetItem", "Query", "UpdateItem") // a query reads the children of one that fanned out
	parts.GrantTable(role, d.Control, "GetItem", "PutItem", "UpdateItem")
}

func grantDeadLetter(i parts.Installation, role awsiam.IRole, d *Data) {
	grantExecute(role, d)
	for _, pool := range i.Pools {
		parts.GrantQueue(role, d.Work[pool.Name].DeadLetter, "GetQueueUrl", "DeleteMessage", "ChangeMessageVisibility")
	}
	grantSend(i, role, d) // what follows children, whose last one may end here
}

func grantRecord(i parts.Installation, role awsiam.IRole, d *Data) {
	parts.GrantTable(role, d.Executions, "PutItem")
	parts.GrantTable(role, d.Control, "PutItem")
	i.GrantKey(role)
}

func grantArchive(i parts.Installation, role awsiam.IRole, d *Data) {
	parts.GrantObjects(role, d.Archive, "kind=", "PutObject")
	i.GrantKey(role)
}

func grantAPI(i parts.Installation, role awsiam.IRole, d *Data) {
	parts.GrantTable(role, d.Jobs, "GetItem", "BatchGetItem", "PutItem", "Query", "Scan", "UpdateItem", "ConditionCheckItem")
	parts.GrantIndex(role, d.Jobs, store.IndexTenant)
	parts.GrantIndex(role, d.Jobs, store.IndexDue)
	parts.GrantTable(role, d.Executions, "GetItem", "BatchGetItem", "Query", "Scan", "UpdateItem")
	parts.GrantTable(role, d.Control, "GetItem", "PutItem", "Query", "UpdateItem", "DeleteItem", "ConditionCheckItem")
	parts.GrantUploads(role, d.Objects)
	grantSend(i, role, d)
}

func grantWorker(i parts.Installation, role awsiam.IRole, d *Data, pool string) {
	grantExecute(role, d)
	q := d.Work[pool]
	parts.GrantQueue(role, q.Main, "GetQueueUrl", "SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility")
	parts.GrantQueue(role, q.Isolation, "GetQueueUrl", "SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility")
	i.GrantProgress(role, d.Objects)
	i.GrantKey(role)
	i.GrantTargets(role)
}
