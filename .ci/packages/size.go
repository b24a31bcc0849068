package main

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"os"
)

// zipped is how many bytes a package with this one program has, compressed at the
// level at which the CDK compresses.
func zipped(program string) (int64, error) {
	f, err := os.Open(program)
	if err != nil {
		return 0, fmt.Errorf("%w: run `make packages`", err)
	}
	defer func() { _ = f.Close() }()
	var n counter
	w := zip.NewWriter(&n)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.DefaultCompression) })
	entry, err := w.Create("bootstrap")
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(entry, f); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return int64(n), nil
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
