// Package poolfile reads a file of pools: YAML (or JSON) that holds the list
// under the key pools, or the list alone, as the variable BELFRY_POOLS has it.
//
// What happens to the data here: text becomes the pools of an installation,
// judged as the stack and the runtime judge them, or refusals that name line,
// key, value and bound.
//
// Who calls: the CDK app for the file of its settings, the command line for that
// of `belfry dev --pools`. Nobody else, so that functions carry no YAML reader.
//
// What it must never do: mean by a file anything else than a deployment of it
// would.
package poolfile
