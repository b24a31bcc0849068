package dynamo

import (
	"encoding/binary"
	"slices"
	"strings"
)

// maxSegments is how many ways a parallel scan can be split.
const maxSegments = 1_000_000

func (s *Service) scan(body []byte) ([]byte, error) {
	in, err := decode("Scan", body)
	if err != nil {
		return nil, err
	}
	if err := in.checkSegments(); err != nil {
		return nil, err
	}
	q, err := s.bindReading(in)
	if err != nil {
		return nil, err
	}
	return s.readPage(q, func(source) (span, error) { return in.segmentSpan(), nil })
}

func (in *request) checkSegments() error {
	switch {
	case in.segment == nil && in.totalSegments == nil:
		return nil
	case in.segment == nil:
		return validation("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case in.totalSegments == nil:
		return validation("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case *in.totalSegments > maxSegments:
		return constraint("'"+formatInt(*in.totalSegments)+"'", "totalSegments", "Member must have value less than or equal to 1000000")
	case *in.segment >= *in.totalSegments:
		return validation("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d",
			*in.segment, *in.totalSegments)
	}
	return nil
}

// segmentSpan divides the rows by the hash that they begin with.
func (in *request) segmentSpan() span {
	if in.segment == nil {
		return span{from: []byte{}}
	}
	edge := func(segment int64) []byte {
		return binary.BigEndian.AppendUint32(nil, uint32((segment<<32)/(*in.totalSegments)))
	}
	r := span{from: edge(*in.segment)}
	if *in.segment+1 < *in.totalSegments {
		r.until = edge(*in.segment + 1)
	}
	return r
}

// checkProjected refuses names that the index does not hold.
func (x *index) checkProjected(names []string) error {
	if x.covers == nil {
		return nil
	}
	var missing []string
	for _, name := range names {
		if !slices.Contains(x.covers, name) {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	return invalidParameter("Global secondary index %s does not project [%s]", x.Name, strings.Join(missing, ", "))
}
