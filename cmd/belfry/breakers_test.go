package main

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/httpapi"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// What a person sees while two dependencies are down, and does about one of them.
func TestAnEveningWithBreakers(t *testing.T) {
	t.Parallel()
	b := assembled(t)
	server := httptest.NewServer(httpapi.New(b.Control, httpapi.Options{Version: "1.2.3"}))
	defer server.Close()
	step := func(name string, args ...string) { golden(t, "breakers "+name, belfry(t, server.URL, "", args...)) }
	step("none is open", "breakers")
	trip := func(resource string, until time.Duration, jobs ...string) {
		var known *job.Breaker
		var err error
		for _, name := range jobs {
			known, err = b.Store.NoteFailure(t.Context(), job.BreakerFailure{Ref: job.Ref{Tenant: job.DefaultTenant, Job: name}, Resource: resource, At: noon, Code: "HTTP_503", Within: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Store.OpenBreaker(t.Context(), known, job.BreakerOpening{At: noon, Until: noon.Add(until), Wait: time.Minute, Code: "HTTP_503"}); err != nil {
			t.Fatal(err)
		}
	}
	trip("https://api.example.com:443", time.Minute, "bill", "mail", "sync")
	trip("payments-db", 24*365*100*time.Hour, "bill")
	step("two are", "breakers", "list")
	step("two are as JSON", "breakers", "list", "--json", "--limit", "1")
	step("close one", "breakers", "close", "payments-db", "--note", "failed over")
	step("one is left", "breakers")
	step("close none", "breakers", "close", "payments")
	step("help", "breakers", "--help")
	step("help for close", "breakers", "close", "--help")
}
