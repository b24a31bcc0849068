package cost

// Size is an example that the documents quote.
type Size struct {
	Name string
	Says string
	Input
}

// Sizes are the examples, small to large.
func Sizes() []Size {
	size := func(name, says string, jobs int, fires float64, shards int) Size {
		in := Defaults()
		in.Jobs, in.FiresPerMinute, in.Shards = jobs, fires, shards
		return Size{name, says, in}
	}
	return []Size{
		size("a team", "200 jobs, 10 executions a minute", 200, 10, 256),
		size("a company", "10 000 jobs, 1 000 executions a minute", 10_000, 1_000, 256),
		size("a platform", "1 000 000 jobs, 20 000 executions a minute, 4 096 shards", 1_000_000, 20_000, 4096),
	}
}
