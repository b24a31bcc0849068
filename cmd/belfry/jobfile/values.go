package jobfile

import (
	"fmt"
	"math"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// scalar enters n and hands over its value; null means that the key might as
// well have been left out.
func (r *reader) scalar(n ast.Node, read func(ast.Node)) {
	value, done := r.enter(n)
	defer done()
	switch value.(type) {
	case nil, *ast.NullNode:
		return
	}
	read(value)
}

func (r *reader) wrong(path string, n ast.Node, expected, fix string) {
	r.refuse(n, &job.Error{Code: job.CodeInvalid, Field: path, Value: scalarText(n), Bound: expected, Message: "this is not " + expected, Fix: fix})
}

// scalarText is what stands in the file, for errors.
func scalarText(n ast.Node) string {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode, *ast.NullNode:
		text, _ := plain(n)
		return job.Shorten(text)
	}
	return ""
}

// plain is the text of a scalar; isText is false for numbers, true, false.
func plain(n ast.Node) (text string, isText bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	if t := n.GetToken(); t != nil {
		return t.Value, false
	}
	return "", false
}

// text reads a string. Numbers and true/false are not taken for one: 1.10 would
// lose its zero on the way.
func text[T ~string](r *reader, into *T) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			given, isText := plain(v)
			if !isText {
				r.wrong(path, v, "text", "put it in quotes")
				return
			}
			*into = T(given)
		})
	}
}

func (r *reader) duration(into *job.Duration) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			switch v.(type) {
			case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode:
			default:
				r.wrong(path, v, "a duration, such as 30s, 15m, 1h30m, 7d", "write a number with a unit: s, m, h or d")
				return
			}
			given, _ := plain(v)
			d, err := job.ParseDuration(given)
			if err != nil {
				e := asJobError(err)
				e.Field = path
				r.refuse(v, e)
				return
			}
			*into = d
		})
	}
}

func (r *reader) instant(into *time.Time) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			given, isText := plain(v)
			if !isText {
				r.wrong(path, v, "a time, such as 2026-07-12T03:30:00+02:00", "write it as RFC 3339 with an offset")
				return
			}
			at, err := schedule.ParseTime(path, given)
			if err != nil {
				e := asJobError(err)
				if e.Fix == "" {
					e.Fix = "write it as RFC 3339 with an offset"
				}
				r.refuse(v, e)
				return
			}
			*into = at
		})
	}
}

func (r *reader) number(into *int) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			if whole, isWhole := v.(*ast.IntegerNode); isWhole {
				switch value := whole.Value.(type) {
				case int64:
					*into = int(value)
					return
				case uint64:
					if value <= math.MaxInt64 {
						*into = int(value)
						return
					}
				}
			}
			r.wrong(path, v, "a whole number", "write digits only, without quotes")
		})
	}
}

func (r *reader) decimal(into *float64) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			switch value := v.(type) {
			case *ast.FloatNode:
				*into = value.Value
			case *ast.IntegerNode:
				var whole int
				r.number(&whole)(path, v)
				*into = float64(whole)
			default:
				r.wrong(path, v, "a number", "write it without quotes")
			}
		})
	}
}

// positive refuses a zero after read has read it: the service would take it for
// nothing given, and put its default there.
func positive[T int | float64 | job.Duration](r *reader, into *T, read func(string, ast.Node)) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			before := len(r.faults)
			read(path, v)
			if *into == 0 && len(r.faults) == before {
				r.refuse(v, &job.Error{Code: job.CodeInvalid, Field: path, Value: scalarText(v), Bound: "more than 0", Message: "0 is not possible here", Fix: "leave it out for the default"})
			}
		})
	}
}

// unbuilt reads a key whose feature is not built yet, where only the forms that
// mean "none" are taken; of all others the same is said, since nobody can know
// the right one yet.
func (r *reader) unbuilt(what string, known func(ast.Node) bool, read func(string, ast.Node)) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			if known(v) {
				read(path, v)
				return
			}
			r.refuse(v, &job.Error{Code: job.CodeNotSupported, Field: path, Value: scalarText(v), Message: what + " is not built yet in this version", Fix: "leave " + path + " out"})
		})
	}
}

func isText(n ast.Node) bool {
	_, yes := plain(n)
	return yes
}

func isList(n ast.Node) bool {
	_, yes := n.(*ast.SequenceNode)
	return yes
}

func (r *reader) truth(into *bool) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			if value, isBool := v.(*ast.BoolNode); isBool {
				*into = value.Value
				return
			}
			r.wrong(path, v, "true or false", "write true or false, without quotes")
		})
	}
}

// texts reads a mapping of free keys to text.
func (r *reader) texts(into *map[string]string) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			pairs, ok := r.pairs(v)
			if !ok {
				r.wrong(path, v, "keys and values", "write it as key: value")
				return
			}
			out := make(map[string]string, len(pairs))
			for _, p := range pairs {
				var value string
				r.lines[joined(path, p.key)] = lineOf(p.node)
				text(r, &value)(joined(path, p.key), p.value)
				out[p.key] = value
			}
			*into = out
		})
	}
}

func (r *reader) list(into *[]string) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			items, isList := v.(*ast.SequenceNode)
			if !isList {
				r.wrong(path, v, "a list", "write it as [first, second]")
				return
			}
			for i, item := range items.Values {
				var value string
				at := fmt.Sprintf("%s[%d]", path, i)
				r.lines[at] = lineOf(item)
				text(r, &value)(at, item)
				*into = append(*into, value)
			}
		})
	}
}

// word reads a text that may be left out and may not be empty, as that of a variable
// is which nobody set: the service would put its default there.
func word[T ~string](r *reader, into *T) func(string, ast.Node) {
	read := text(r, into)
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			before := len(r.faults)
			read(path, v)
			if *into == "" && len(r.faults) == before {
				r.refuse(v, &job.Error{Code: job.CodeInvalid, Field: path, Bound: "not empty", Message: "it is empty", Fix: "leave it out for the default"})
			}
		})
	}
}
