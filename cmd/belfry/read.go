package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
)

// readJobs reads all files and judges them together; every fault of every file
// is told at once, as jobfile.Faults. The jobs and calendars without one are
// returned beside them.
func (a *app) readJobs(c *cobra.Command, names []string) (jobfile.Contents, error) {
	var contents jobfile.Contents
	paths, err := jobFiles(c, names)
	if err != nil {
		return contents, err
	}
	var faults jobfile.Faults
	for _, path := range paths {
		shown, data, err := a.readFile(c, path)
		if err != nil {
			return contents, err
		}
		sound, wrong := jobfile.ParseSound(shown, data, a.now())
		contents.Add(sound)
		faults = append(faults, wrong...)
	}
	if len(faults) > 0 {
		return contents, faults
	}
	return contents, jobfile.RefuseRepeats(contents)
}

// jobFiles puts the files of a directory in its place, in their names' order.
func jobFiles(c *cobra.Command, names []string) ([]string, error) {
	var paths []string
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case name == "-":
			paths = append(paths, name)
			continue
		case err != nil:
			return nil, usage(c, "cannot read %s: %v", name, err)
		case !info.IsDir():
			paths = append(paths, name)
			continue
		}
		var inside []string
		for _, pattern := range []string{"*.yaml", "*.yml"} {
			found, err := filepath.Glob(filepath.Join(escaped(name), pattern))
			if err != nil {
				return nil, usage(c, "cannot read %s: %v", name, err)
			}
			inside = append(inside, found...)
		}
		if len(inside) == 0 {
			return nil, usage(c, "%s holds no *.yaml or *.yml file", name)
		}
		sort.Strings(inside)
		paths = append(paths, inside...)
	}
	return paths, nil
}

// escaped keeps a directory's own name from being read as a pattern.
func escaped(name string) string {
	out := make([]rune, 0, len(name))
	for _, r := range name {
		switch r {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}

// readFile reads one file, or stdin, up to one byte past the bound that the
// parser refuses.
func (a *app) readFile(c *cobra.Command, path string) (shown string, data []byte, err error) {
	from, shown := a.in, "stdin"
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", nil, usage(c, "cannot read %s: %v", path, err)
		}
		defer func() { _ = file.Close() }() // only read
		from, shown = file, path
	}
	data, err = io.ReadAll(io.LimitReader(from, jobfile.MaxFile+1))
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", shown, err)
	}
	return shown, data, nil
}
