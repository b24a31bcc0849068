package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

func (a *app) deadCommand() *cobra.Command {
	c := &cobra.Command{Use: "dead", Short: "List and close what failed for good",
		Long: `List and close what failed for good, and what nobody knows the outcome of.

FAILED: the handler said that trying again cannot help. DEAD: Belfry gave up. NEEDS_REVIEW: it is unknown whether
the last attempt took effect. Each waits for a person: replay it, close it, or decide it.`,
		Example: "  belfry dead list --job nightly --since 24h\n  belfry dead resolve 'nightly~20260712T013000Z~v3' --as handled --note 'sent by hand'", Args: noSuchCommand, RunE: showHelp}
	c.AddCommand(a.deadList(), a.deadResolve())
	return c
}

// deadFlags select dead letters.
type deadFlags struct {
	job, kind, since, until string
	codes, statuses         []string
}

func (f *deadFlags) flags(c *cobra.Command, a *app, statuses string) {
	c.Flags().StringVar(&f.job, "job", "", "only of this job")
	c.Flags().StringVar(&f.kind, "type", "", "only of jobs of this type")
	c.Flags().StringArrayVar(&f.codes, "code", nil, "only with this error code, such as HTTP_503 (repeatable)")
	c.Flags().StringArrayVar(&f.statuses, "status", nil, "only this status (repeatable): "+statuses)
	c.Flags().StringVar(&f.since, "since", "", "only what ended at or after this RFC 3339 time, or so long ago at most, such as 24h")
	c.Flags().StringVar(&f.until, "until", "", "only what ended at or before this RFC 3339 time, or so long ago at least")
	_ = c.RegisterFlagCompletionFunc("job", a.completeJobs)
}

// query reads the flags.
func (f *deadFlags) query(c *cobra.Command, now time.Time) (q client.DeadQuery, err error) {
	q = client.DeadQuery{Job: f.job, Type: f.kind, Codes: f.codes}
	if q.Statuses, err = parseStatuses(c, f.statuses); err != nil {
		return q, err
	}
	for _, s := range q.Statuses {
		if !lifecycle.Matters(s) {
			return q, usage(c, "--status %s needs nobody: choose from FAILED, DEAD, NEEDS_REVIEW", s)
		}
	}
	if q.Since, err = moment(c, "since", f.since, now); err != nil {
		return q, err
	}
	q.Until, err = moment(c, "until", f.until, now)
	return q, err
}

// moment reads an RFC 3339 time, or a length of time before now.
func moment(c *cobra.Command, flag, text string, now time.Time) (string, error) {
	if text == "" {
		return "", nil
	}
	if ago, err := job.ParseDuration(text); err == nil {
		return now.Add(-ago.Std()).UTC().Format(time.RFC3339Nano), nil
	}
	if _, err := schedule.ParseTime(flag, text); err != nil {
		return "", usage(c, "--%s %q is neither a time, such as 2026-07-12T01:30:00Z, nor a length of time, such as 24h", flag, job.Shorten(text))
	}
	return text, nil
}

func (a *app) deadList() *cobra.Command {
	var p paging
	var f deadFlags
	var closed bool
	c := &cobra.Command{Use: "list", Short: "List what waits for a person, latest end first",
		Long:    "List the executions that are FAILED, DEAD or NEEDS_REVIEW and that nobody has replayed, closed or decided; latest end first.\nThe list lags by seconds.",
		Example: "  belfry dead list\n  belfry dead list --job nightly --code HTTP_503 --since 24h\n  belfry dead list --closed --json", Args: upTo(0)}
	p.flags(c)
	f.flags(c, a, "FAILED, DEAD, NEEDS_REVIEW")
	c.Flags().BoolVar(&closed, "closed", false, "also what has been replayed or closed")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := p.check(c); err != nil {
			return err
		}
		q, err := f.query(c, a.now())
		if err != nil {
			return err
		}
		q.Open = !closed
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			page, err := collect(p, func(cursor string, limit int) (client.Page[client.DeadLetter], error) {
				q.Cursor, q.Limit = cursor, limit
				return api.Dead(ctx, q)
			})
			if err != nil {
				return err
			}
			return a.print(page, func() { a.showDead(page, closed) })
		})
	}
	return c
}

func (a *app) showDead(page client.Page[client.DeadLetter], closed bool) {
	if len(page.Items) == 0 {
		if closed {
			fmt.Fprintln(a.err, "there are no such dead letters")
		} else {
			fmt.Fprintln(a.err, "nothing waits for a person; --closed shows what has been replayed or closed, too")
		}
		return
	}
	t := table{paint: a.states(1)}
	t.row("ID", "STATUS", "SINCE", "ATTEMPT", "REVISION", "INPUT", "STATE", "WHY")
	for _, d := range page.Items {
		t.row(d.ID, string(d.Status), a.when(d.Since, a.local), strconv.Itoa(d.Attempt), strconv.Itoa(d.Revision), orDash(firstOf(string(d.InputDigest))), deadState(d), orDash(a.whyText(d.Execution)))
	}
	t.write(a.out)
	a.more(page.NextCursor)
}

// firstOf is as much of a digest as tells two apart by eye.
func firstOf(digest string) string { return digest[:min(len(digest), 12)] }

// deadState is what has been done about a dead letter.
func deadState(d client.DeadLetter) string {
	switch {
	case d.Resolution != nil:
		return safe(d.Resolution.As + " by " + d.Resolution.By)
	case len(d.ReplayedBy) > 0:
		return "replayed"
	}
	return "open"
}

// verdictFlags are what a person decides and why.
type verdictFlags struct {
	as, note string
	force    bool
}

func (f *verdictFlags) flags(c *cobra.Command, verdicts []job.Verdict) {
	words := verdictWords(verdicts)
	c.Flags().StringVar(&f.as, "as", "", words+" (needed)")
	c.Flags().StringVar(&f.note, "note", "", "why, up to 1000 bytes")
	_ = c.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(strings.Split(words, ", "), cobra.ShellCompDirectiveNoFileComp))
}

func verdictWords(verdicts []job.Verdict) string {
	words := make([]string, len(verdicts))
	for i, v := range verdicts {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}

// question refuses a verdict that is none before anything is sent.
func (f *verdictFlags) question(c *cobra.Command, verdicts []job.Verdict) (client.VerdictQuestion, error) {
	if !slices.Contains(verdicts, job.Verdict(f.as)) {
		if f.as == "" {
			return client.VerdictQuestion{}, usage(c, "--as is missing: choose from %s", verdictWords(verdicts))
		}
		return client.VerdictQuestion{}, usage(c, "--as %q is no verdict here: choose from %s", job.Shorten(f.as), verdictWords(verdicts))
	}
	return client.VerdictQuestion{As: f.as, Note: f.note, Force: f.force}, nil
}

func (a *app) deadResolve() *cobra.Command {
	var f verdictFlags
	c := &cobra.Command{Use: "resolve ID", Short: "Close a dead letter",
		Long:    "Close a dead letter: it no longer waits for a person. How it ended stays. Who closed it, when and why is kept and audited.",
		Example: "  belfry dead resolve 'nightly~20260712T013000Z~v3' --as handled --note 'sent by hand, see OPS-17'\n  belfry dead resolve 'nightly~20260712T013000Z~v3' --as ignored --force", Args: exactly("ID")}
	f.flags(c, lifecycle.LetterVerdicts)
	c.Flags().BoolVar(&f.force, "force", false, "replace another verdict")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.decide(c, &f, lifecycle.LetterVerdicts, func(ctx context.Context, api *client.Client, q client.VerdictQuestion) (client.Execution, error) {
			return api.ResolveDead(ctx, args[0], q)
		}, func(e client.Execution) { fmt.Fprintf(a.out, "%s is closed %s\n", e.ID, a.verdictText(e.Resolution)) })
	}
	return c
}

// decide sends a verdict and prints what the execution has become.
func (a *app) decide(c *cobra.Command, f *verdictFlags, verdicts []job.Verdict, send func(context.Context, *client.Client, client.VerdictQuestion) (client.Execution, error), show func(client.Execution)) error {
	q, err := f.question(c, verdicts)
	if err != nil {
		return err
	}
	return a.call(c, func(ctx context.Context, api *client.Client) error {
		e, err := send(ctx, api, q)
		if err != nil {
			return err
		}
		return a.print(e, func() { show(e) })
	})
}

func (a *app) executionsResolve() *cobra.Command {
	var f verdictFlags
	c := &cobra.Command{Use: "resolve ID", Short: "Decide what became of an execution in doubt",
		Long: `Decide what became of an execution that is NEEDS_REVIEW: nobody knows whether its last attempt took effect, so
Belfry neither tries it again nor gives it up.

succeeded: it took effect. failed: it did not, and the execution becomes a dead letter. retry: another attempt begins at once.`,
		Example: "  belfry executions resolve 'nightly~20260712T013000Z~v3' --as succeeded --note 'the bank shows it'\n  belfry executions resolve 'nightly~20260712T013000Z~v3' --as retry --note 'no trace of it over there'", Args: exactly("ID")}
	f.flags(c, lifecycle.ReviewVerdicts)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.note == "" {
			return usage(c, "--note is missing: say what the verdict rests on")
		}
		return a.decide(c, &f, lifecycle.ReviewVerdicts, func(ctx context.Context, api *client.Client, q client.VerdictQuestion) (client.Execution, error) {
			return api.ReviewExecution(ctx, args[0], q)
		}, func(e client.Execution) { fmt.Fprintf(a.out, "%s is %s\n", e.ID, statusText(e)) })
	}
	return c
}

func (a *app) executionsRetry() *cobra.Command {
	return &cobra.Command{Use: "retry ID", Short: "Let the next attempt of a waiting execution begin at once",
		Long:    "Let the next attempt of an execution that is RETRY_WAIT begin at once. Its attempts stay counted.\nWhat has failed for good is replayed instead: belfry replay ID.",
		Example: "  belfry executions retry 'nightly~20260712T013000Z~v3'", Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				e, err := api.RetryExecution(ctx, args[0])
				if err != nil {
					return err
				}
				return a.print(e, func() {
					fmt.Fprintf(a.out, "attempt %d of %s begins as soon as a worker takes it\n", e.Attempt+1, e.ID)
				})
			})
		}}
}
