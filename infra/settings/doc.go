// Package settings reads what an operator decides about one installation: one
// YAML file, every key of it typed, bounded and documented by the struct itself,
// and the CDK's context on top of it.
//
// What happens to the data here: a profile gives every key a value, the file
// replaces some, the context (`cdk deploy -c belfry:api.authorizer=jwt`) others;
// the result is checked as a whole before the first construct is made. The
// pools, which the runtime reads too, come from a file that the settings name.
//
// What it must never do: look at the account, the environment or the clock. The
// same file gives the same stacks everywhere.
package settings
