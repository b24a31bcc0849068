package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// spell is a stretch of time in which the machine was watched: a timed figure is
// only worth what the machine had left for it.
type spell struct {
	began time.Time
	own   time.Duration // processor time of this process
	all   time.Duration // of everything on the machine; zero where it cannot be read
}

func watch() spell {
	return spell{began: time.Now(), own: ownTime(), all: allTime()}
}

// watched is what a spell was: its length, and the seconds of processor time
// that this process and all others took meanwhile.
type watched struct {
	took        time.Duration
	own, others float64
}

func (s spell) end() watched {
	w := watched{took: max(time.Since(s.began), time.Microsecond), own: (ownTime() - s.own).Seconds()}
	if s.all > 0 {
		w.others = max((allTime()-s.all).Seconds()-w.own, 0)
	}
	return w
}

// and adds another spell.
func (w watched) and(o watched) watched {
	return watched{took: w.took + o.took, own: w.own + o.own, others: w.others + o.others}
}

// busy is how many processors this process kept busy, on average.
func (w watched) busy() float64 { return w.own / w.took.Seconds() }

// beside is how many processors others kept busy meanwhile.
func (w watched) beside() float64 { return w.others / w.took.Seconds() }

func ownTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// allTime is the processor time that the machine has spent on work, as Linux
// counts it: hundredths of a second, with idle and waiting left out.
func allTime() time.Duration {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	var user, nice, system, idle, wait, irq, soft, stolen int64
	if _, err := fmt.Sscanf(line, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &stolen); err != nil {
		return 0
	}
	return time.Duration(user+nice+system+irq+soft+stolen) * 10 * time.Millisecond
}
