package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The archive is read here with nothing but the standard library, so that the
// packer's own reading of the format is not what its output is judged by.

// shared is a folder for what is built once for all tests.
var shared string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "worker")
	if err != nil {
		panic(err)
	}
	shared = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// built is the worker as `make image` builds it.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(shared, "worker")
	if _, err := os.Stat(path); err != nil {
		buildInto(t, path)
	}
	return path
}

func buildInto(t *testing.T, path string) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// long leaves a test that builds programs to the long run.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the image; part of make test")
	}
}

// pack packs a binary and returns the archive.
func pack(t *testing.T, binary string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	out, err := packer(t, "-worker", binary, "-arch", runtime.GOARCH, "-version", "1.2.3", "-revision", "0123abc", "-o", path)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func packer(t *testing.T, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", append([]string{"run", "-C", filepath.Join("..", "..", ".ci", "image"), "-buildvcs=false", "."}, args...)...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// untar are the files of a tar by name, folders by a name that ends in a slash.
func untar(t *testing.T, content io.Reader) map[string]entry {
	t.Helper()
	found := map[string]entry{}
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		bytes, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = entry{*header, bytes}
	}
}

type entry struct {
	tar.Header
	content []byte
}

// picture is an image as its archive tells it.
type picture struct {
	layers []map[string]entry
	blobs  []string          // where the layers are in the archive, and the configuration
	names  map[string]string // what the index calls it
	docker []struct {
		Config           string
		RepoTags, Layers []string
	}
	config struct {
		Architecture, OS string
		Config           struct {
			User, WorkingDir, StopSignal string
			Entrypoint                   []string
			Labels                       map[string]string
		}
	}
}

// look reads an archive, from its index down, and checks every digest.
func look(t *testing.T, archive []byte) picture {
	t.Helper()
	files := untar(t, bytes.NewReader(archive))
	type descriptor struct {
		Digest, MediaType string
		Size              int
		Annotations       map[string]string
	}
	blob := func(d descriptor) []byte {
		content := files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)].content
		if sum := sha256.Sum256(content); "sha256:"+hex.EncodeToString(sum[:]) != d.Digest || len(content) != d.Size {
			t.Fatalf("the blob %s of %d bytes is not what its name says", d.Digest, len(content))
		}
		return content
	}
	read := func(content []byte, into any) {
		if err := json.Unmarshal(content, into); err != nil {
			t.Fatalf("%v in %s", err, content)
		}
	}
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(files["index.json"].content, &index)
	if len(index.Manifests) != 1 || string(files["oci-layout"].content) == "" {
		t.Fatalf("%d images are in the archive, want 1 in an OCI layout", len(index.Manifests))
	}
	read(blob(index.Manifests[0]), &manifest)
	p := picture{names: index.Manifests[0].Annotations}
	read(blob(manifest.Config), &p.config)
	for _, layer := range manifest.Layers {
		content, err := gzip.NewReader(bytes.NewReader(blob(layer)))
		if err != nil || layer.MediaType != "application/vnd.oci.image.layer.v1.tar+gzip" {
			t.Fatalf("layer of type %s: %v", layer.MediaType, err)
		}
		p.layers = append(p.layers, untar(t, content))
		p.blobs = append(p.blobs, "blobs/"+strings.Replace(layer.Digest, ":", "/", 1))
	}
	read(files["manifest.json"].content, &p.docker)
	p.blobs = append(p.blobs, "blobs/"+strings.Replace(manifest.Config.Digest, ":", "/", 1))
	return p
}

// An engine asks no layout what to load: the deployment's asset depends on it.
func TestAnEngineLoadsTheSameImageUnderItsName(t *testing.T) {
	long(t)
	p := look(t, pack(t, built(t)))
	if len(p.docker) != 1 || !slices.Equal(p.docker[0].RepoTags, []string{"belfry-worker:1.2.3"}) || !slices.Equal(append(p.docker[0].Layers, p.docker[0].Config), p.blobs) {
		t.Errorf("docker would load %+v, the layout holds %v", p.docker, p.blobs)
	}
	for key, want := range map[string]string{"org.opencontainers.image.ref.name": "1.2.3", "io.containerd.image.name": "docker.io/library/belfry-worker:1.2.3"} {
		if p.names[key] != want {
			t.Errorf("the image is named %s by %s, want %s", p.names[key], key, want)
		}
	}
}

func TestTheImageIsTheWorkerAndItsRootsOfTrustAndNothingElse(t *testing.T) {
	long(t)
	p := look(t, pack(t, built(t)))
	c := p.config
	if c.OS != "linux" || c.Architecture != runtime.GOARCH || c.Config.User != "65532:65532" || !slices.Equal(c.Config.Entrypoint, []string{"/worker"}) || c.Config.StopSignal != "SIGTERM" {
		t.Errorf("the image is run as %+v", c)
	}
	if l := c.Config.Labels; l["org.opencontainers.image.version"] != "1.2.3" || l["org.opencontainers.image.revision"] != "0123abc" || l["org.opencontainers.image.licenses"] != "Apache-2.0" {
		t.Errorf("its labels are %v", l)
	}
	all := map[string]entry{}
	for _, layer := range p.layers {
		maps.Copy(all, layer)
	}
	const roots = "etc/ssl/certs/ca-certificates.crt"
	if names := slices.Sorted(maps.Keys(all)); !slices.Equal(names, []string{"etc/", "etc/ssl/", "etc/ssl/certs/", roots, "worker"}) {
		t.Errorf("the image holds %v", names)
	}
	for name, e := range all {
		if e.Mode&0o222 != 0 || e.Uid != 0 || e.Gid != 0 || e.ModTime.Unix() != 0 {
			t.Errorf("%s has mode %o, owner %d:%d, time %v; want nothing to be writable, root's, and without a time", name, e.Mode, e.Uid, e.Gid, e.ModTime)
		}
	}
	if want, err := os.ReadFile(built(t)); err != nil || !bytes.Equal(all["worker"].content, want) {
		t.Errorf("the worker in the image is another one: %v", err)
	}
	checkRoots(t, all[roots].content)
}

// checkRoots expects certificates of authorities, the one of AWS among them.
func checkRoots(t *testing.T, content []byte) {
	t.Helper()
	trusted, amazon := 0, false
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !certificate.IsCA {
			t.Fatalf("a root of trust is no authority's certificate: %v", err)
		}
		trusted++
		amazon = amazon || certificate.Subject.CommonName == "Amazon Root CA 1"
	}
	if trusted < 50 || !amazon {
		t.Errorf("%d authorities are trusted, the one of AWS among them: %v", trusted, amazon)
	}
}

func TestTwoBuildsInDifferentPlacesAreTheSameImage(t *testing.T) {
	long(t)
	elsewhere := filepath.Join(t.TempDir(), "worker")
	buildInto(t, elsewhere)
	first, second := pack(t, built(t)), pack(t, elsewhere)
	if !bytes.Equal(first, second) {
		t.Errorf("the archives differ: %x and %x", sha256.Sum256(first), sha256.Sum256(second))
	}
}

func TestWhatTheImageCouldNotRunIsNotPacked(t *testing.T) {
	long(t)
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	rows := map[string]struct {
		args []string
		want string
	}{
		"a binary for another processor": {[]string{"-worker", built(t), "-arch", other}, "not for " + other},
		"a script":                       {[]string{"-worker", script, "-arch", runtime.GOARCH}, "no program for linux"},
		"a version that is no tag":       {[]string{"-worker", built(t), "-arch", runtime.GOARCH, "-version", "1.2+x"}, "-version is"},
		"no architecture":                {[]string{"-worker", script}, "choose amd64 or arm64"},
		"a binary that is not there":     {[]string{"-worker", script + "s", "-arch", runtime.GOARCH}, "no such file"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "image.tar")
			out, err := packer(t, append(row.args, "-o", path)...)
			if err == nil || !strings.Contains(out, row.want) {
				t.Errorf("%v: %s; want it refused with %q", err, out, row.want)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("an archive was left: %v", err)
			}
		})
	}
}
