package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func (a *app) executionsCommand() *cobra.Command {
	c := &cobra.Command{Use: "executions", Aliases: []string{"execution"}, Short: "List, read, cancel, retry and resolve executions",
		Example: "  belfry executions list nightly\n  belfry executions timeline 'nightly~20260712T013000Z~v3'", Args: noSuchCommand, RunE: showHelp}
	c.AddCommand(a.executionsList(), a.executionsGet(), a.executionsTimeline(), a.executionsChildren(), a.executionsCancel(), a.executionsRetry(), a.executionsResolve())
	return c
}

func (a *app) executionsList() *cobra.Command {
	var p paging
	var statuses []string
	var upcoming bool
	c := &cobra.Command{Use: "list [JOB]", Short: "List executions, newest scheduled time first",
		Long:    "List the executions of a job, or the latest of all jobs; newest scheduled time first.\nThose whose time has not come are left out, unless --upcoming or --status SCHEDULED asks for them.",
		Example: "  belfry executions list nightly\n  belfry executions list --status DEAD --status FAILED\n  belfry executions list nightly --upcoming --json", Args: upTo(1), ValidArgsFunction: a.completeJobs}
	p.flags(c)
	c.Flags().StringArrayVar(&statuses, "status", nil, "only this status (repeatable): "+statusWords())
	c.Flags().BoolVar(&upcoming, "upcoming", false, "also those whose time has not come")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := p.check(c); err != nil {
			return err
		}
		q := client.ExecutionQuery{Upcoming: upcoming}
		if len(args) > 0 {
			q.Job = args[0]
		}
		var err error
		if q.Statuses, err = parseStatuses(c, statuses); err != nil {
			return err
		}
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			page, err := collect(p, func(cursor string, limit int) (client.Page[client.Execution], error) {
				q.Cursor, q.Limit = cursor, limit
				return api.Executions(ctx, q)
			})
			if err != nil {
				return err
			}
			return a.print(page, func() { a.showExecutions(page) })
		})
	}
	return c
}

func statusWords() string {
	words := make([]string, len(lifecycle.Statuses))
	for i, s := range lifecycle.Statuses {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

// parseStatuses takes words in any case, also several joined by commas.
func parseStatuses(c *cobra.Command, given []string) ([]job.Status, error) {
	var out []job.Status
	for _, word := range strings.FieldsFunc(strings.Join(given, ","), func(r rune) bool { return r == ',' }) {
		known := false
		for _, s := range lifecycle.Statuses {
			if strings.EqualFold(word, string(s)) {
				out, known = append(out, s), true
			}
		}
		if !known {
			return nil, usage(c, "%q is no status: choose from %s", job.Shorten(word), statusWords())
		}
	}
	return out, nil
}

func (a *app) showExecutions(page client.Page[client.Execution]) {
	if len(page.Items) == 0 {
		fmt.Fprintln(a.err, "there are no such executions; --upcoming shows those whose time has not come")
		return
	}
	t := table{paint: a.states(1)}
	t.row("ID", "STATUS", "SCHEDULED", "STARTED", "TOOK", "ATTEMPT", "WHY")
	for _, e := range page.Items {
		t.row(e.ID, statusText(e), a.when(e.ScheduledAt, a.local), startText(e), tookText(e), strconv.Itoa(e.Attempt), orDash(a.whyText(e)))
	}
	t.write(a.out)
	a.more(page.NextCursor)
}

// statusText is the status, with the view READY and the size of a range.
func statusText(e client.Execution) string {
	switch {
	case e.Range != nil:
		return fmt.Sprintf("%s ×%d", e.Status, e.Range.Count)
	case e.Ready:
		return string(e.Status) + " (ready)"
	case e.Cancel != nil && e.Cancel.Declined && e.Status == job.Running:
		return string(e.Status) + " (cancel declined)"
	case e.Cancel != nil && e.Status == job.Running:
		return string(e.Status) + " (canceling)"
	}
	return string(e.Status)
}

// startText is how long after its time the first attempt began.
func startText(e client.Execution) string {
	if e.StartedAt.IsZero() {
		return "-"
	}
	return "+" + span(max(e.StartedAt.Sub(e.ScheduledAt.Time), 0))
}

func tookText(e client.Execution) string {
	if e.StartedAt.IsZero() || e.FinishedAt.IsZero() {
		return "-"
	}
	return span(e.FinishedAt.Sub(e.StartedAt.Time))
}

// whyText says what the status alone does not.
func (a *app) whyText(e client.Execution) string {
	if e.Status == job.Succeeded || e.Status == job.Scheduled || e.Status == job.Running && e.ErrorCode == "" {
		return ""
	}
	why := strings.TrimSpace(string(e.ReasonText) + " " + bracket(e.ErrorCode))
	if e.Status == job.RetryWait && e.AvailableAt.After(a.now()) {
		why += ", again " + distance(e.AvailableAt.Sub(a.now()))
	}
	return why
}

func bracket(code client.Text) string {
	if code == "" {
		return ""
	}
	return "(" + string(code) + ")"
}

func (a *app) executionsGet() *cobra.Command {
	return &cobra.Command{Use: "get ID", Aliases: []string{"show"}, Short: "Show an execution", Example: "  belfry executions get 'nightly~20260712T013000Z~v3'", Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				e, err := api.Execution(ctx, args[0])
				if err != nil {
					return err
				}
				return a.print(e, func() { a.showExecution(e) })
			})
		}}
}

func (a *app) showExecution(e client.Execution) {
	token, covers := "", ""
	if e.FencingToken != nil {
		token = strconv.FormatInt(*e.FencingToken, 10)
	}
	if e.Range != nil {
		covers = fmt.Sprintf("%d %s from %s to %s", e.Range.Count, plural(e.Range.Count, "time", "times"), stamp(e.Range.From.Time, a.local), stamp(e.Range.To.Time, a.local))
	}
	scheduled := a.when(e.ScheduledAt, a.local)
	if a.local != time.UTC {
		scheduled += ", " + stamp(e.ScheduledAt.Time, time.UTC)
	}
	if !e.DueAt.IsZero() {
		scheduled += ", due at " + stamp(e.DueAt.Time, a.local) + " by its jitter slot"
	}
	facts(a.out, "id", e.ID, "job", e.Job, "kind", e.Kind, "status", statusText(e), "why", safe(string(e.ReasonText)), "error", errorText(e),
		"scheduled", scheduled, "available", present(e.AvailableAt, a.when(e.AvailableAt, a.local)), "started", present(e.StartedAt, a.when(e.StartedAt, a.local)),
		"finished", present(e.FinishedAt, a.when(e.FinishedAt, a.local)), "attempt", strconv.Itoa(e.Attempt), "fencing token", token,
		"owner", safe(string(e.Owner)), "lease until", present(e.LeaseUntil, a.when(e.LeaseUntil, a.local)), "covers", covers,
		"asked by", safe(string(e.Actor)), "repeats", repeatsText(e), "replayed by", strings.Join(e.ReplayedBy, ", "), "closed", a.verdictText(e.Resolution), "reviewed", a.verdictText(e.Review), "backfill", string(e.Backfill), "children", childrenText(e.FanOut), "followed by", followedText(e.FanOut), "pool", e.Pool, "type", safe(string(e.Type)), "revision", strconv.Itoa(e.Revision), "input digest", string(e.InputDigest))
	if e.Stack != "" {
		fmt.Fprintln(a.out, "last error in full:")
		for line := range strings.Lines(string(e.Stack)) {
			fmt.Fprintln(a.out, "  "+strings.TrimRight(safe(strings.ReplaceAll(line, "\t", "    ")), " "))
		}
	}
}

// errorText is the last error in a line: its first one, where the whole follows.
func errorText(e client.Execution) string {
	text := string(e.ErrorText)
	if e.Stack != "" {
		text, _, _ = strings.Cut(text, "\n")
	}
	return safe(strings.TrimSpace(string(e.ErrorCode) + " " + text))
}

// repeatsText names what a replay repeats, and where its chain began.
func repeatsText(e client.Execution) string {
	if e.Origin == "" {
		return string(e.ReplayOf)
	}
	return string(e.ReplayOf) + ", itself a replay of " + string(e.Origin)
}

// verdictText says what a person decided, who, when and why.
func (a *app) verdictText(v *client.Verdict) string {
	if v == nil {
		return ""
	}
	text := "as " + v.As + " by " + safe(v.By) + ", " + a.when(v.At, a.local)
	if v.Note != "" {
		text += ": " + safe(string(v.Note))
	}
	return text
}

// present keeps text only for a time that there is.
func present(t client.Time, text string) string {
	if t.IsZero() {
		return ""
	}
	return text
}

func (a *app) executionsTimeline() *cobra.Command {
	return &cobra.Command{Use: "timeline ID", Short: "Show how an execution came to be what it is", Example: "  belfry executions timeline 'nightly~20260712T013000Z~v3'", Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				page, err := api.Timeline(ctx, args[0])
				if err != nil {
					return err
				}
				return a.print(page, func() { a.showTimeline(page) })
			})
		}}
}

func (a *app) showTimeline(page client.Page[client.Entry]) {
	t := table{paint: a.states(2)}
	t.row("AT", "AFTER", "STATUS", "ATTEMPT", "TOKEN", "BY", "WHY")
	last := time.Time{}
	for _, e := range page.Items {
		after, token := "", "-"
		if !last.IsZero() {
			after = "+" + span(max(e.At.Sub(last), 0))
		}
		last = e.At.Time
		if e.FencingToken != nil {
			token = strconv.FormatInt(*e.FencingToken, 10)
		}
		why := strings.TrimSpace(string(e.ReasonText) + " " + bracket(e.ErrorCode))
		t.row(stampMillis(e.At.Time, a.local), after, e.Status, strconv.Itoa(e.Attempt), token, orDash(e.Actor), orDash(why))
	}
	t.write(a.out)
}

func stampMillis(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04:05.000 -07:00")
}

func (a *app) executionsCancel() *cobra.Command {
	return &cobra.Command{Use: "cancel ID", Short: "Cancel an execution", Long: "End an execution that is not running at once, and ask a running one to stop.",
		Example: "  belfry executions cancel 'nightly~20260712T013000Z~v3'", Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				e, err := api.CancelExecution(ctx, args[0])
				if err != nil {
					return err
				}
				return a.print(e, func() {
					if e.Status == job.Running {
						fmt.Fprintf(a.out, "asked %s to stop; follow it with: belfry executions timeline '%s'\n", e.ID, e.ID)
						return
					}
					fmt.Fprintf(a.out, "%s is %s\n", e.ID, e.Status)
				})
			})
		}}
}
