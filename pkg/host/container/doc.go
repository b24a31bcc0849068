// Package container runs a worker as a container: cmd/worker is made of it, and so is
// the worker of a team that has handlers of its own.
//
// What happens to the data here: nothing. It reads the environment, wires the planes
// to their clients, and tells the platform how the worker is: health, protection of
// the task while anything runs, exit codes.
//
// What it must never do: end the process by itself, or while anything runs.
package container
