package main

import (
	"debug/elf"
	"fmt"
	"path/filepath"
)

// machines are what each architecture's programs are built for.
var machines = map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}

// checkMachine refuses programs that were built for another architecture than
// the settings deploy them to: they would fail at their first start.
func checkMachine(built, architecture string, programs ...string) error {
	for _, program := range programs {
		path := filepath.Join(built, program)
		file, err := elf.Open(path)
		if err != nil {
			return fmt.Errorf("%s is no program (%w): run `make functions`", path, err)
		}
		_ = file.Close()
		if file.Machine != machines[architecture] {
			return fmt.Errorf("%s is built for %s, but the settings say %s: say it in the environment, too (ARCH=%s)", path, file.Machine, architecture, architecture)
		}
	}
	return nil
}

// programs are what the stacks deploy.
var programs = []string{"api/bootstrap", "tick/bootstrap", "scan/bootstrap", "work/bootstrap", "deadletter/bootstrap", "record/bootstrap", "archive/bootstrap", "worker/worker"}
