// Package dynamo holds the tools of package idempotent for DynamoDB.
//
// An Inbox is a table of actions: Record enters one by itself, Transact in one
// transaction with the writes that are its effect, and Begin and Finish stand
// around an effect outside. Update, Put, and Fence (for transactions) make
// writes that only the newest attempt gets through: the item keeps its fence in
// the attribute last_fencing_token.
//
// What happens to the data here: a condition, an attribute and their placeholders
// (#belfry…, :belfry…) are added to a copy of the caller's request; an answer that
// says the condition failed is read with the item that was there, so that an own
// write whose answer was lost is told from somebody else's.
//
// What it must never do: retry by itself (the SDK does), or delete: a deleted item
// has no fence, and the oldest attempt may write it again.
package dynamo
