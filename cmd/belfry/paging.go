package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

// paging are the flags of every list.
type paging struct {
	limit  int
	all    bool
	cursor string
}

// largestPage is the most that the API gives at once.
const largestPage = 1000

func (p *paging) flags(c *cobra.Command) {
	c.Flags().IntVar(&p.limit, "limit", 100, "most items to print")
	c.Flags().BoolVar(&p.all, "all", false, "print everything, however much it is")
	c.Flags().StringVar(&p.cursor, "cursor", "", "go on where an earlier list ended (its next_cursor)")
}

func (p *paging) check(c *cobra.Command) error {
	if p.limit < 1 {
		return usage(c, "--limit %d is out of bounds: choose 1 or more, or --all", p.limit)
	}
	if p.all && c.Flags().Changed("limit") {
		return usage(c, "--all and --limit contradict each other: give one of them")
	}
	return nil
}

// collect reads pages until the limit is reached or nothing is left.
func collect[T any](p paging, read func(cursor string, limit int) (client.Page[T], error)) (client.Page[T], error) {
	found := client.Page[T]{Items: []T{}}
	cursor := p.cursor
	for {
		limit := largestPage
		if !p.all {
			limit = min(limit, p.limit-len(found.Items))
		}
		page, err := read(cursor, limit)
		if err != nil {
			return found, err
		}
		found.Items = append(found.Items, page.Items...)
		found.NextCursor = page.NextCursor
		cursor = string(page.NextCursor)
		if cursor == "" || !p.all && len(found.Items) >= p.limit {
			return found, nil
		}
	}
}

// more hints on stderr how the list goes on.
func (a *app) more(cursor client.Text) {
	if cursor != "" {
		fmt.Fprintf(a.err, "there is more: repeat the command with --all, or with --cursor %s\n", cursor)
	}
}
