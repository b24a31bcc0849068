package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// user is nobody's on any machine: it owns no file, in the image or outside.
	user   = "65532:65532"
	source = "https://github.com/belfry-scheduler/belfry"
)

// pack makes the image of an order.
func pack(o order) (v1.Image, error) {
	worker, err := os.ReadFile(o.worker)
	if err != nil {
		return nil, err
	}
	if err := runsAlone(worker, o.arch); err != nil {
		return nil, fmt.Errorf("%s: %w", o.worker, err)
	}
	trusted, err := roots()
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, f := range []file{{rootsPath, 0o444, trusted, "roots of trust"}, {"worker", 0o555, worker, "the container worker"}} {
		if image, err = f.onto(image); err != nil {
			return nil, err
		}
	}
	return describe(image, o)
}

// describe says how the image is run, and what it is.
func describe(image v1.Image, o order) (v1.Image, error) {
	known, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := known.DeepCopy()
	config.OS, config.Architecture = "linux", o.arch
	labels := map[string]string{
		"org.opencontainers.image.title":       "Belfry container worker",
		"org.opencontainers.image.description": "Runs executions from the queues of Belfry's pools.",
		"org.opencontainers.image.source":      source,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     o.version,
	}
	if o.revision != "" {
		labels["org.opencontainers.image.revision"] = o.revision
	}
	config.Config = v1.Config{User: user, Entrypoint: []string{"/worker"}, WorkingDir: "/", StopSignal: "SIGTERM", Labels: labels}
	return mutate.ConfigFile(image, config)
}

// runsAlone refuses a binary that the image could not start: one for another
// processor, or one that needs a dynamic linker, which the image does not have.
func runsAlone(binary []byte, arch string) error {
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return fmt.Errorf("it is no program for linux: %w", err)
	}
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]
	if f.Machine != machine {
		return fmt.Errorf("it was built for %s, not for %s", f.Machine, arch)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("it is linked dynamically, and the image has no linker: build it with CGO_ENABLED=0")
		}
	}
	return nil
}

// file is what a layer holds.
type file struct {
	name    string // its path, without the leading slash
	mode    int64
	content []byte
	what    string
}

// onto puts a layer with the file, and with the folders that lead to it, onto
// the image.
func (f file) onto(image v1.Image) (v1.Image, error) {
	content, err := f.tar()
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{CreatedBy: f.what}})
}

func (f file) tar() ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	var folders []string
	for at := path.Dir(f.name); at != "."; at = path.Dir(at) {
		folders = append([]string{at}, folders...)
	}
	for _, folder := range folders {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o555, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Format: tar.FormatUSTAR}); err != nil {
		return nil, err
	}
	if _, err := w.Write(f.content); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}
