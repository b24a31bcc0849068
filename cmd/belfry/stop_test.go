package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestASecondInterruptEndsTheProcessAtOnce(t *testing.T) {
	t.Parallel()
	hooks := newReceiver(t)
	p := startDev(t, t.TempDir())
	file := "job: held\nschedule: {every: 1h}\ntarget: {webhook: {url: \"" + hooks.URL + "/held\"}}\n"
	if got := belfry(t, p.url, file, "apply", "-f", "-"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := belfry(t, p.url, "", "jobs", "run", "held"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	<-hooks.arrived
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	heard := func() bool { return belfry(t, p.url, "", "health").code != 0 }
	for !heard() {
		continue
	}
	begun := time.Now()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err == nil || time.Since(begun) > 5*time.Second {
		t.Errorf("it ended after %v with %v, though the drain is 10 s", time.Since(begun), err)
	}
}

func TestAProcessThatCannotStartHasFailedAndIsNotUnreachable(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := startDev(t, data)
	taken := strings.TrimPrefix(p.url, "http://")
	rows := map[string]struct {
		args []string
		code int
		want string
	}{
		"a folder in use": {[]string{"--data", data, "--listen", "127.0.0.1:0"}, exitFailed, "is in use by another process\n  another belfry dev has it open"},
		"a port in use":   {[]string{"--data", t.TempDir(), "--listen", taken}, exitFailed, "cannot listen on " + taken},
		"no folder":       {[]string{"--data", "", "--listen", "127.0.0.1:0"}, exitUsage, "--data is empty"},
	}
	for name, row := range rows {
		got := belfry(t, "", "", append([]string{"dev", "--aws-listen", "127.0.0.1:0"}, row.args...)...)
		if got.code != row.code || !strings.Contains(got.err, row.want) || got.out != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
