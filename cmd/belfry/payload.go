package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func (a *app) payloadCommand() *cobra.Command {
	c := &cobra.Command{Use: "payload", Aliases: []string{"payloads"}, Short: "Store payloads that are too large for a job",
		Example: "  belfry payload put input.json", Args: noSuchCommand, RunE: showHelp}
	c.AddCommand(a.payloadPut())
	return c
}

func (a *app) payloadPut() *cobra.Command {
	return &cobra.Command{Use: "put FILE", Short: "Store a file and print its reference",
		Long: `Store a file of up to 16 MiB in the installation's own bucket and print its
reference, which jobs and runs name as payload_ref. Payloads of up to 32 KB are
better written out in the job.

The reference is named after the content: the same file has the same one, the
command may be repeated, and what is stored under it never changes. The file goes
straight to S3, by a request that the API signs; - reads standard input.`,
		Example: "  belfry payload put input.json\n  belfry jobs run nightly --payload-ref \"$(belfry payload put input.json)\"", Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			content, err := a.readPayload(args[0])
			if err != nil {
				return err
			}
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				place, err := api.StorePayload(ctx, content, nil)
				if err != nil {
					return err
				}
				shown := struct {
					PayloadRef string `json:"payload_ref"`
					SHA256     string `json:"sha256"`
					Size       int64  `json:"size"`
				}{place.PayloadRef, place.SHA256, place.Size} // and not the request, which is a right to write
				return a.print(shown, func() { fmt.Fprintln(a.out, place.PayloadRef) })
			})
		}}
}

// readPayload reads the file as far as its size has to be known.
func (a *app) readPayload(name string) ([]byte, error) {
	from := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the payload: %w", err)
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	content, err := io.ReadAll(io.LimitReader(from, job.MaxPayloadObject+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the payload: %w", err)
	case len(content) == 0:
		return nil, &job.Error{Code: job.CodeInvalid, Field: "FILE", Value: job.Shorten(name), Bound: "1 byte or more", Message: "the file is empty", Fix: "leave the payload out of the job"}
	case len(content) > job.MaxPayloadObject:
		return nil, &job.Error{Code: job.CodeTooLarge, Field: "FILE", Value: job.Shorten(name), Bound: fmt.Sprintf("%d bytes", job.MaxPayloadObject), Message: "the file is too large for a payload",
			Fix: "leave the data where it is, and make the payload a list of where it lies"}
	}
	return content, nil
}
