package observe

// Site is what dashboard and alarms need to know of an installation: the names
// of what AWS itself has figures about.
type Site struct {
	Prefix    string
	Region    string
	Pools     []SitePool
	Tables    []SiteTable
	Functions []string // names of the Lambda functions
	Record    string   // the one behind the stream
	AlarmARN  string   // of every alarm, up to its name
	TickOff   bool     // the tick is switched off: its silence is no alarm
}

// SitePool is a pool and the names of its queues.
type SitePool struct {
	Name, Queue, Isolation, DeadLetter string
}

// SiteTable is a table, or one of its indexes.
type SiteTable struct {
	Table string
	Index string // empty = the table itself
}

// Series is what a line of the dashboard shows or an alarm measures: a metric of
// the list, one of AWS's own, or an expression over the series beside it.
type Series struct {
	ID         string // by which expressions name it; empty where none does
	Label      string
	Metric     *Metric   // of the list; nil = one of AWS's own
	Split      Dimension // one line for each value of it; empty = the whole
	Value      string    // with Split: only the line of this value
	Namespace  string    // of AWS's own
	Name       string    // of AWS's own
	Of         []Property
	Stat       string
	Expression string // metric math in place of a metric
	Hidden     bool   // only expressions use it
}

// Property is a dimension of one of AWS's own metrics.
type Property struct{ Name, Value string }

func own(m *Metric, label string) Series { return Series{Metric: m, Stat: m.Stat, Label: label} }

func (s Series) at(stat string) Series {
	s.Stat = stat
	return s
}

func (s Series) named(id string) Series {
	s.ID, s.Hidden = id, true
	return s
}

func split(m *Metric, by Dimension) Series { return Series{Metric: m, Stat: m.Stat, Split: by} }

// called puts a word before the value of each line of a split.
func (s Series) called(label string) Series {
	s.Label = label
	return s
}

func awsOwn(namespace, name, stat, label string, of ...Property) Series {
	return Series{Namespace: namespace, Name: name, Stat: stat, Label: label, Of: of}
}

func math(expression, label string) Series {
	return Series{Expression: expression, Label: label}
}
