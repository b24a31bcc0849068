package settings

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"github.com/goccy/go-yaml"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/dispatch/poolfile"
)

// Lookup answers what the context says about a key; false when nothing.
type Lookup func(key string) (string, bool)

// ContextPrefix begins the name of every setting in the context.
const ContextPrefix = "belfry:"

// Read reads the settings file name of files and the pools that it names, with
// what context says on top. An error names what to mend.
func Read(files fs.FS, name string, context Lookup) (Settings, dispatch.Pools, error) {
	document, err := fs.ReadFile(files, name)
	if err != nil {
		return Settings{}, nil, fmt.Errorf("read the settings: %w", err)
	}
	s, err := parse(document, context)
	if err != nil {
		return Settings{}, nil, fmt.Errorf("%s: %w", name, err)
	}
	pools := dispatch.Pools(dispatch.DefaultPools())
	if s.PoolsFile != "" {
		pools, err = readPools(files, path.Join(path.Dir(name), s.PoolsFile))
	}
	if err == nil {
		err = s.Check(pools)
	}
	return s, pools, err
}

func parse(document []byte, context Lookup) (Settings, error) {
	var named struct {
		Profile string `yaml:"profile"`
	}
	if err := yaml.Unmarshal(document, &named); err != nil {
		return Settings{}, fmt.Errorf("not YAML:\n%w", err)
	}
	if text, said := context(ContextPrefix + "profile"); said {
		named.Profile = text
	}
	if named.Profile == "" {
		named.Profile = Profiles[0]
	}
	s, known := OfProfile(named.Profile)
	if !known {
		return s, refusal("profile", named.Profile, "small or large", "is no profile")
	}
	// A document without a key would set everything to nothing.
	var anything any
	if err := yaml.Unmarshal(document, &anything); err != nil {
		return s, fmt.Errorf("not YAML:\n%w", err)
	}
	if anything != nil {
		if err := yaml.UnmarshalWithOptions(document, &s, yaml.Strict()); err != nil {
			return s, fmt.Errorf("not settings:\n%w", err)
		}
	}
	for _, k := range Keys(&s) {
		if text, said := context(ContextPrefix + k.Path); said {
			if err := k.set(text); err != nil {
				return s, err
			}
		}
	}
	return s, publicUnlessOwn(&s, document, context)
}

// publicUnlessOwn takes workers' public addresses back in a network of the
// operator's own, where the profile's word is no wish of theirs.
func publicUnlessOwn(s *Settings, document []byte, context Lookup) error {
	var file struct {
		Workers struct {
			PublicIP *bool `yaml:"public_ip"`
		} `yaml:"workers"`
	}
	if err := yaml.Unmarshal(document, &file); err != nil {
		return fmt.Errorf("not settings:\n%w", err)
	}
	if _, said := context(ContextPrefix + "workers.public_ip"); !said && file.Workers.PublicIP == nil && s.Workers.VPCID != "" {
		s.Workers.PublicIP = false
	}
	return nil
}

// readPools reads a file of pools, as `belfry dev` does and the runtime will.
func readPools(files fs.FS, name string) (dispatch.Pools, error) {
	document, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read the pools: %w", err)
	}
	pools, err := poolfile.Read(document)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return pools, nil
}

// Document is the text that functions and workers read the pools from.
func Document(pools dispatch.Pools) string {
	text, err := json.Marshal(pools)
	if err != nil {
		panic(err) // a pool is texts and numbers
	}
	return string(text)
}
