package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/dispatch/poolfile"
)

// readPools reads a file of pools, as a deployment reads it; no name means none,
// and so the pools that ship.
func (a *app) readPools(c *cobra.Command, name string) (dispatch.Pools, error) {
	if name == "" {
		return nil, nil
	}
	shown, document, err := a.readFile(c, name)
	if err != nil {
		return nil, err
	}
	pools, err := poolfile.Read(document)
	var wrong poolfile.Faults
	if errors.As(err, &wrong) {
		faults := make(jobfile.Faults, len(wrong))
		for i, e := range wrong {
			faults[i] = jobfile.Fault{File: shown, Err: e}
		}
		return nil, faults
	}
	return pools, err
}
