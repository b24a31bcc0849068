package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// missing refuses an assembly that wants something looked up in an account: the
// stacks must be the same for everybody, and the app alone would go on with
// placeholders.
func missing(assembly string) error {
	text, err := os.ReadFile(filepath.Join(assembly, "manifest.json"))
	if err != nil {
		return fmt.Errorf("read the assembly: %w", err)
	}
	var manifest struct {
		Missing []struct {
			Key string `json:"key"`
		} `json:"missing"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("read the assembly: %w", err)
	}
	var faults []string
	for _, m := range manifest.Missing {
		faults = append(faults, m.Key)
	}
	if len(faults) > 0 {
		return fmt.Errorf("the stacks want to look up %q in the account; say it in the settings instead", faults)
	}
	return nil
}
