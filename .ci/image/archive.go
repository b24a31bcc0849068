package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// How an archive tells its image's name: to readers of OCI layouts the tag, to
// engines that keep images in containerd the whole of it.
const (
	refName       = "org.opencontainers.image.ref.name"
	containerdRef = "io.containerd.image.name"
	name          = "belfry-worker"
)

// archive writes the image as one file: an OCI image layout in a tar, with the
// manifest.json beside it by which `docker load` knows an image and its name.
func archive(image v1.Image, o order) error {
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover in the system's own place for them
	at, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	err = at.AppendImage(image, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: o.arch}),
		layout.WithAnnotations(map[string]string{refName: o.version, containerdRef: "docker.io/library/" + name + ":" + o.version}))
	if err != nil {
		return err
	}
	if err := forDocker(image, o, filepath.Join(folder, "manifest.json")); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return err
	}
	// Renamed when whole: half an archive is never mistaken for one.
	half := o.out + ".half"
	if err := tarFolder(folder, half); err != nil {
		return errors.Join(err, os.Remove(half))
	}
	return os.Rename(half, o.out)
}

// forDocker writes what `docker load` reads, as `docker save` does: the same blobs
// by their places in the layout, and the name.
func forDocker(image v1.Image, o order, path string) error {
	config, err := image.ConfigName()
	if err != nil {
		return err
	}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	blob := func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
	entry := struct {
		Config   string
		RepoTags []string
		Layers   []string
	}{Config: blob(config), RepoTags: []string{name + ":" + o.version}}
	for _, layer := range layers {
		digest, err := layer.Digest()
		if err != nil {
			return err
		}
		entry.Layers = append(entry.Layers, blob(digest))
	}
	manifest, err := json.Marshal([]any{entry})
	if err != nil {
		return err
	}
	return os.WriteFile(path, manifest, 0o644)
}

// tarFolder writes all that is in the folder, in the order of the names and
// without times and owners.
func tarFolder(folder, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := tar.NewWriter(f)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return add(w, path, filepath.ToSlash(name), entry)
	})
	return errors.Join(err, w.Close(), f.Close())
}

func add(w *tar.Writer, path, name string, entry fs.DirEntry) error {
	if entry.IsDir() {
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, Format: tar.FormatUSTAR})
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: info.Size(), Format: tar.FormatUSTAR}); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}
