// Package localstack holds what deploys Belfry's stacks to an emulator of AWS on
// this machine: the settings (belfry.yaml, pools.yaml), the emulator
// (requirements.txt for MiniStack, compose.yaml for LocalStack), the steps (stack),
// and the test that watches what was deployed through the API alone, behind the
// build tag stack. In testdata are what a user would bring: a function that jobs
// invoke, and a worker with handlers.
//
// It has no code of its own: what it tests must be what an account would get.
package localstack
