// Package job holds the nouns of Belfry: a job's definition and its policies,
// its head (the small mutable record), an execution, the keys and ids that
// name them, and the codes of every refusal.
//
// Every other room speaks in these values. The package imports nothing of
// ours, reads no clock, draws no random number and knows no storage.
package job
