package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is text in aligned columns. Widths count characters, and what is
// coloured is coloured after it was aligned.
type table struct {
	rows  [][]string
	paint func(column int, cell string) string // nil = plain
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			padding := widths[i] - utf8.RuneCountInString(cell)
			if t.paint != nil && n > 0 {
				cell = t.paint(i, cell)
			}
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", padding+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// facts writes names and values below each other; empty values are left out.
func facts(w io.Writer, pairs ...string) {
	var t table
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			t.row(pairs[i]+":", pairs[i+1])
		}
	}
	t.write(w)
}

// states colours words of states: green what went well, red what did not,
// yellow what waits for somebody.
func (a *app) states(column int) func(int, string) string {
	if !a.color {
		return nil
	}
	return func(at int, cell string) string {
		if at != column {
			return cell
		}
		switch strings.Fields(cell + " ")[0] {
		case "ENABLED", "SUCCEEDED", "created", "RUNNING":
			return "\x1b[32m" + cell + "\x1b[0m"
		case "FAILED", "DEAD", "BROKEN", "SUSPENDED":
			return "\x1b[31m" + cell + "\x1b[0m"
		case "PAUSED", "RETRY_WAIT", "MISSED", "SKIPPED", "CANCELED", "NEEDS_REVIEW", "updated":
			return "\x1b[33m" + cell + "\x1b[0m"
		}
		return cell
	}
}

// safe makes text from elsewhere fit for a terminal: no control characters.
func safe(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
