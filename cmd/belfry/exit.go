package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/signing"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitRefused     = 5
	exitUnreachable = 6
	exitNotLetIn    = 7
	exitChanges     = 10
)

// usageError is a command line that says nothing that could be done.
type usageError struct {
	message string
	command string // to ask for help with
}

func (e *usageError) Error() string { return e.message }

func usage(c *cobra.Command, format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...), command: c.CommandPath()}
}

// silent ends a command with a code that is no failure.
type silent struct{ code int }

func (e silent) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// noSuchCommand is the argument rule of commands that only hold others.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := fmt.Sprintf("there is no command %q", job.Shorten(c.CommandPath()+" "+args[0]))
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		message += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage(c, "%s", message)
}

// exactly is the argument rule of commands that take the named arguments.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usage(c, "%s is missing", names[len(args)])
		case len(args) > len(names):
			return usage(c, "%q is one argument too many", job.Shorten(args[len(names)]))
		}
		if at := slices.Index(args, ""); at >= 0 {
			return usage(c, "%s is empty", names[at])
		}
		return nil
	}
}

// upTo allows at most n arguments.
func upTo(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return usage(c, "%q is one argument too many", job.Shorten(args[n]))
		}
		return nil
	}
}

// codeOf is the exit code of an error.
func codeOf(err error) int {
	var quiet silent
	var wrong *usageError
	var unreachable *client.Unreachable
	var faults jobfile.Faults
	var ended *notStarted
	var denied *client.Denied
	var unsent *signing.UnsentError
	switch {
	case errors.As(err, &quiet):
		return quiet.code
	case errors.As(err, &ended) && job.CodeOf(err).Class() != job.ClassRefused:
		return exitFailed
	case errors.As(err, &wrong):
		return exitUsage
	case errors.As(err, &unreachable):
		return exitUnreachable
	case errors.As(err, &denied), errors.As(err, &unsent):
		return exitNotLetIn
	case errors.As(err, &faults):
		return codeOfClass(faults[0].Err.Code)
	}
	if code := job.CodeOf(err); code != "" {
		return codeOfClass(code)
	}
	return exitFailed
}

func codeOfClass(code job.Code) int {
	if code == job.CodeUnavailable {
		return exitUnreachable
	}
	switch code.Class() {
	case job.ClassRefused:
		return exitRefused
	case job.ClassMissing:
		return exitNotFound
	case job.ClassConflict:
		return exitConflict
	case job.ClassBusy, job.ClassBroken:
		return exitFailed
	}
	return exitFailed
}

// told is one refusal in the JSON document on stderr.
type told struct {
	Code    job.Code `json:"code"`
	File    string   `json:"file,omitempty"`
	Line    int      `json:"line,omitempty"`
	Field   string   `json:"field,omitempty"`
	Value   string   `json:"value,omitempty"`
	Bound   string   `json:"bound,omitempty"`
	Message string   `json:"message"`
	Fix     string   `json:"fix,omitempty"`
}

func toldOf(e *job.Error, file string) told {
	return told{Code: e.Code, File: file, Line: e.Line, Field: e.Field, Value: e.Value, Bound: e.Bound, Message: e.Message, Fix: e.Fix}
}

// refusals lists what an error says, each with what to do next.
func (a *app) refusals(err error) []told {
	if t, so := a.notLetIn(err); so {
		return []told{t}
	}
	var wrong *usageError
	var unreachable *client.Unreachable
	var faults jobfile.Faults
	var known *job.Error
	switch {
	case errors.As(err, &faults):
		list := make([]told, len(faults))
		for i, f := range faults {
			list[i] = toldOf(f.Err, f.File)
		}
		return list
	case errors.As(err, &wrong):
		return []told{{Code: "USAGE", Message: wrong.message, Fix: "see: " + wrong.command + " --help"}}
	case errors.As(err, &unreachable):
		return []told{{Code: "UNREACHABLE", Value: unreachable.URL, Message: unreachable.Error(), Fix: "start one with: belfry dev, or name another with --url or BELFRY_URL"}}
	case errors.As(err, &known):
		return []told{toldOf(known, "")}
	case errors.Is(err, context.Canceled):
		return []told{{Code: "INTERRUPTED", Message: "interrupted before it was done", Fix: "run the command again"}}
	}
	return []told{{Code: "FAILED", Message: err.Error()}}
}

// report writes err to stderr and tells the exit code.
func (a *app) report(err error, name string) int {
	code := codeOf(err)
	var quiet silent
	if errors.As(err, &quiet) {
		return code
	}
	list := a.refusals(err)
	if a.json {
		document := struct {
			Error    told   `json:"error"`
			Errors   []told `json:"errors,omitempty"`
			ExitCode int    `json:"exit_code"`
		}{Error: list[0], ExitCode: code}
		if len(list) > 1 {
			document.Errors = list
		}
		if writeJSON(a.err, document) == nil {
			return code
		}
	}
	for _, t := range list {
		fmt.Fprintln(a.err, t.line(name))
	}
	return code
}

// line is a refusal for people: where, what, allowed, and what to do.
func (t told) line(name string) string {
	where := name
	if t.File != "" {
		where = fmt.Sprintf("%s:%d", t.File, max(t.Line, 1))
	}
	e := job.Error{Field: t.Field, Bound: t.Bound, Message: t.Message}
	text := where + ": " + e.Error()
	if t.Fix != "" {
		text += "\n  " + t.Fix
	}
	return text
}
