// Package dynamo answers the operations of DynamoDB and DynamoDB Streams over
// a kv.Engine, as the service does: same results, same refusals, same order,
// same consumed capacity. The transport hands it an operation name and a JSON
// body; it decodes them, runs one engine transaction and writes the answer.
//
// What the service has and this package has not is refused by name with a
// NotImplementedException; nothing is ignored silently. Parameters that have
// no meaning on one machine (billing mode, provisioned, on-demand and warm
// throughput, encryption, table class) are checked for shape, kept, and shown
// by DescribeTable; tags are kept and, as at the service, not shown there.
//
// What happens to the data: an item lives in the space of its table under
// hash(partition key) + partition key + sort key, all in an order-preserving
// form. Each index has a space of its own, keyed by the index key followed by
// the item's key, so that items with equal index keys stay apart and in order.
// A write reads the old item, decides, and then writes item, index entries,
// expiry entry and stream record in the one transaction that also decided.
//
// It must never decide outside the transaction that writes, use floats for
// numbers, or start a goroutine.
package dynamo
