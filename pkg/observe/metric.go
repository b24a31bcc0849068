package observe

import "github.com/belfry-scheduler/belfry/pkg/job"

// Unit is CloudWatch's word for what a figure is measured in.
type Unit string

// The units in use.
const (
	Milliseconds Unit = "Milliseconds"
	Count        Unit = "Count"
)

// Dimension is a property by which a figure is split.
type Dimension string

// The dimensions. All of them have few values, and those are known beforehand;
// Labels has room for no other.
const (
	Pool   Dimension = "pool"
	Type   Dimension = "type"   // of the job, out of the installation's list
	Target Dimension = "target" // kind of the job's target
	Reason Dimension = "reason"
)

// Labels say what a figure is about. Only those that its metric is split by are
// used. A value that the emitter does not know counts as "other", an empty type
// or target as "none".
type Labels struct {
	Pool   string
	Type   string
	Target string
	Reason job.Reason
}

// Metric is one figure of the list.
type Metric struct {
	Name  string
	Unit  Unit
	Means string // what one value says, in a sentence
	By    []Dimension
	From  string // the function that emits it
	Stat  string // CloudWatch's statistic that tells most
}

// Counter counts things. What one batch counts is one value.
type Counter struct{ Metric }

// Timer takes durations, each of them a value.
type Timer struct{ Metric }

// Sets are the dimension sets under which the metric is published: the whole,
// and by each dimension alone. There are no cross products, so that the number
// of metrics grows with the number of values and not with their product.
func (m *Metric) Sets() [][]Dimension {
	sets := [][]Dimension{{}}
	for _, d := range m.By {
		sets = append(sets, []Dimension{d})
	}
	return sets
}

func (m *Metric) by(d Dimension) bool {
	for _, own := range m.By {
		if own == d {
			return true
		}
	}
	return false
}

// Namespace is the CloudWatch namespace of an installation. Each has its own, as
// figures of two installations in one account must not run together.
func Namespace(prefix string) string { return "Belfry/" + prefix }
