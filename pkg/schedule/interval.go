package schedule

// interval is due at anchor, anchor + step, anchor + 2 × step and so on.
type interval struct{ anchor, step int64 }

func (v interval) next(after int64) (int64, bool) {
	at := v.anchor
	if after >= at {
		at += ((after-at)/v.step + 1) * v.step
	}
	return at, at <= horizon
}

func (v interval) count(after, upto int64) int64 {
	upto = min(upto, horizon)
	return v.upTo(upto) - v.upTo(min(after, upto))
}

// upTo counts the times that are not after at.
func (v interval) upTo(at int64) int64 {
	if at < v.anchor {
		return 0
	}
	return (at-v.anchor)/v.step + 1
}

// once is due at one instant.
type once int64

func (o once) next(after int64) (int64, bool) { return int64(o), after < int64(o) }

func (o once) count(after, upto int64) int64 {
	if after < int64(o) && int64(o) <= upto {
		return 1
	}
	return 0
}
