package wire

import (
	"context"
	"net/http"
)

type baseURLKey struct{}

// WithBaseURL returns a context that carries the address under which the
// caller reached the server, without a trailing slash.
func WithBaseURL(ctx context.Context, base string) context.Context {
	return context.WithValue(ctx, baseURLKey{}, base)
}

// BaseURL returns the address under which the caller reached the server, so
// that a URL in an answer leads back to it. It is "http://local.invalid" when
// the context carries none.
func BaseURL(ctx context.Context) string {
	if base, ok := ctx.Value(baseURLKey{}).(string); ok {
		return base
	}
	return "http://local.invalid"
}

func baseURLOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	return scheme + "://" + host
}
