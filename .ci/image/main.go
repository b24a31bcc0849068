package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(os.Stderr, "image: %v\n", err)
		}
		os.Exit(1)
	}
}

// order is what the command line asks for.
type order struct {
	worker   string // path of the binary, linked statically
	arch     string // GOARCH that it was built for
	version  string
	revision string // of the sources; empty = not said
	out      string // path of the archive
}

// run packs what the command line names and prints the digest of the image's
// manifest, by which a registry knows it.
func run(args []string) error {
	var o order
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&o.worker, "worker", "", "the worker's binary, linked statically for linux")
	flags.StringVar(&o.arch, "arch", "", "what it was built for: amd64 or arm64")
	flags.StringVar(&o.version, "version", "dev", "version, kept as a label and as the image's name in the archive")
	flags.StringVar(&o.revision, "revision", "", "commit of the sources, kept as a label")
	flags.StringVar(&o.out, "o", "", "where the archive is written")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := o.check(flags.Args()); err != nil {
		return err
	}
	image, err := pack(o)
	if err != nil {
		return err
	}
	if err := archive(image, o); err != nil {
		return err
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	fmt.Println(digest)
	return nil
}

// tag is the form of an image's tag.
var tag = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

func (o order) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("it takes no arguments, %q was given", rest[0])
	case o.worker == "":
		return errors.New("-worker is missing")
	case o.out == "":
		return errors.New("-o is missing")
	case o.arch != "amd64" && o.arch != "arm64":
		return fmt.Errorf("-arch is %q: choose amd64 or arm64", o.arch)
	case !tag.MatchString(o.version):
		return fmt.Errorf("-version is %q: it is the image's tag, up to 128 of A-Z, a-z, 0-9, _, . and -", o.version)
	}
	return nil
}
