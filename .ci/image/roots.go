package main

import (
	"bytes"
	"encoding/pem"
	"errors"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootsPath is where Go, and nearly everything else, looks for roots of trust.
const rootsPath = "etc/ssl/certs/ca-certificates.crt"

// roots are the certificates that Mozilla trusts, as the Go team publishes them,
// in PEM. A root that is trusted for a part of its certificates only is left out:
// a file of certificates cannot say such a thing.
func roots() ([]byte, error) {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	if all.Len() == 0 {
		return nil, errors.New("the bundle of roots is empty")
	}
	return all.Bytes(), nil
}
