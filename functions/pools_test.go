package functions_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
)

func TestTheAPIHoldsJobsToThePoolsOfTheEnvironment(t *testing.T) {
	w := newTown(t)
	told := map[string]string{"BELFRY_POOLS": `[{"name":"fast-io","ceiling":"2m"},{"name":"reports","kind":"ecs","ceiling":"3h"}]`}
	e, err := assemble.ReadEnvironment(func(name string) (string, bool) { value, is := told[name]; return value, is })
	if err != nil {
		t.Fatal(err)
	}
	belfry := assemble.New(w.clients, e.Settings(slog.New(slog.DiscardHandler)))
	if err := belfry.Ensure(t.Context(), w.clients); err != nil {
		t.Fatal(err)
	}
	api := functions.API(functions.New(belfry, e))
	for sentence, row := range map[string]struct {
		fields string
		status int
		says   string
	}{
		"a timeout at the ceiling of the pool that jobs go to": {`"timeout":"2m"`, http.StatusCreated, ""},
		"a timeout above it":                                {`"timeout":"121s"`, http.StatusUnprocessableEntity, "choose up to 2m"},
		"a longer one in a pool of its own":                 {`"timeout":"3h","pool":"reports"`, http.StatusCreated, ""},
		"a timeout above that one's":                        {`"timeout":"4h","pool":"reports"`, http.StatusUnprocessableEntity, "choose up to 3h"},
		"a pool that ships, but not with this installation": {`"timeout":"1s","pool":"cpu-heavy"`, http.StatusUnprocessableEntity, "fast-io, reports"},
	} {
		t.Run(sentence, func(t *testing.T) {
			job := strings.ReplaceAll(strings.NewReplacer("'", "", ",", "").Replace(sentence), " ", "-")
			answer, err := api(t.Context(), events.APIGatewayV2HTTPRequest{RawPath: "/v1/jobs/" + job, Headers: map[string]string{"content-type": "application/json"},
				Body:           `{"schedule":{"every":"1h"},"target":{"log":{}},` + row.fields + `}`,
				RequestContext: events.APIGatewayV2HTTPRequestContext{HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: http.MethodPut, Path: "/v1/jobs/" + job}}})
			if err != nil || answer.StatusCode != row.status || !strings.Contains(answer.Body, row.says) {
				t.Errorf("answered %d %s, %v; want %d and %q", answer.StatusCode, answer.Body, err, row.status, row.says)
			}
		})
	}
}
