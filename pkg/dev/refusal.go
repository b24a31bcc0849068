package dev

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// rootCause is the last error of a chain: what the operating system said.
func rootCause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// folderRefused says why the data folder cannot be opened, and what helps.
func folderRefused(folder string, err error) error {
	refusal := &job.Error{Code: job.CodeUnavailable, Field: "--data", Value: job.Shorten(folder), Message: "cannot open the data folder " + job.Shorten(folder) + ": " + rootCause(err)}
	var path *fs.PathError
	switch cause := rootCause(err); {
	case errors.As(err, &path):
		refusal.Fix = "choose a folder that you may write to"
	case cause == "timeout": // of the lock on the database's file
		refusal.Message = "the data folder " + job.Shorten(folder) + " is in use by another process"
		refusal.Fix = "another belfry dev has it open; stop that one, or choose another folder"
	default:
		refusal.Fix = "the file " + filepath.Join(job.Shorten(folder), "aws.db") + " is damaged or of another kind; move it away to begin anew, or choose another folder"
	}
	return refusal
}

// secretRefused points at the file in which a broken webhook secret stands.
func secretRefused(path string, err error) error {
	var known *job.Error
	if !errors.As(err, &known) {
		return err
	}
	return &job.Error{Code: known.Code, Field: "webhook-secret", Bound: known.Bound, Message: "in " + job.Shorten(path) + ": " + known.Message,
		Fix: "put back what stood there, or delete the file and another secret is made"}
}

// variableRefused points at the variable that held a broken webhook secret,
// and never shows its value.
func variableRefused(err error) error {
	var known *job.Error
	if !errors.As(err, &known) {
		return err
	}
	return &job.Error{Code: known.Code, Field: "BELFRY_WEBHOOK_SECRET", Bound: known.Bound, Message: known.Message,
		Fix: "change the variable, or leave it out and a secret is made in the data folder"}
}
