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

// end returns the spell's length, and the processors that this process and all
// others kept busy meanwhile, on average.
func (s spell) end() (took time.Duration, own, others float64) {
	took = max(time.Since(s.began), time.Microsecond)
	own = (ownTime() - s.own).Seconds() / took.Seconds()
	if s.all > 0 {
		others = max((allTime()-s.all).Seconds()/took.Seconds()-own, 0)
	}
	return took, own, others
}

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
