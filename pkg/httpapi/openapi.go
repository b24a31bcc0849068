package httpapi

import (
	"fmt"
	"net/http"
)

// registerDescription serves the description of the registered operations. It
// is rendered once, here, and so comes last.
func (a *api) registerDescription() {
	yaml, json := a.describe()
	serve := func(path, contentType string, document []byte) {
		a.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write(document)
		})
	}
	serve("/v1/openapi.yaml", "application/openapi+yaml", yaml)
	serve("/v1/openapi.json", "application/openapi+json", json)
}

// describe renders the description. The types are ours alone, so a failure is a
// mistake in this package that every test meets at once.
func (a *api) describe() (yaml, json []byte) {
	yaml, err := a.huma.OpenAPI().YAML()
	if err != nil {
		panic(fmt.Sprintf("render the API's description: %v", err))
	}
	json, err = a.huma.OpenAPI().MarshalJSON()
	if err != nil {
		panic(fmt.Sprintf("render the API's description: %v", err))
	}
	return yaml, json
}
