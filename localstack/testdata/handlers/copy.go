package main

import (
	"context"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// copying is the payload of a job that copies rows.
type copying struct {
	Receiver string `json:"receiver"` // told of each row
	Rows     int    `json:"rows"`
	RowBytes int    `json:"row_bytes"` // by which each row lets the checkpoint grow
	StaysAt  int    `json:"stays_at"`  // the row in which the first attempt stays
}

// copied is how far it has come: as many rows as are kept.
type copied struct {
	Rows []string `json:"rows"`
}

// copyRows tells the receiver of one row after the other, and saves after each.
func copyRows(ctx context.Context, a *worker.Attempt, c copying) error {
	var done copied
	if _, err := a.Load(ctx, &done); err != nil {
		return err
	}
	for row := len(done.Rows); row < c.Rows; row++ {
		path := "/steady"
		if row == c.StaysAt {
			path = "/endless"
		}
		if err := tell(ctx, a, c.Receiver+path, map[string]int{"row": row, "kept": kept(done.Rows, c.RowBytes)}); err != nil {
			return err
		}
		done.Rows = append(done.Rows, strings.Repeat("x", c.RowBytes))
		if err := a.Save(ctx, done); err != nil {
			return err
		}
	}
	return nil
}

// kept counts the rows that came out of the checkpoint as they went in.
func kept(rows []string, size int) (n int) {
	for _, row := range rows {
		if row == strings.Repeat("x", size) {
			n++
		}
	}
	return n
}
