package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// fuzzParts makes one part of every fuzz target: the go command fuzzes one
// target of one package at a time.
func fuzzParts(each string) ([]part, error) {
	if each == "" {
		each = "60s"
	}
	out, err := exec.Command("go", "test", "-vet=off", "-list", "^Fuzz", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("listing fuzz targets: %w", err)
	}
	var parts []part
	targets := fuzzTargets(out)
	for _, pkg := range slices.Sorted(maps.Keys(targets)) {
		for _, target := range targets[pkg] {
			p := testPart("fuzz "+target, nil,
				[]string{"-run=^$", "-fuzz=^" + target + "$", "-fuzztime=" + each}, []string{pkg})
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// fuzzTargets reads `go test -list`: the names of a package, then `ok <package> …`.
func fuzzTargets(listing []byte) map[string][]string {
	found := map[string][]string{}
	var names []string
	lines := bufio.NewScanner(bytes.NewReader(listing))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) >= 2 && fields[0] == "ok":
			if len(names) > 0 {
				found[fields[1]] = names
			}
			names = nil
		}
	}
	return found
}
