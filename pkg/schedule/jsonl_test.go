package schedule

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func serve(t testing.TB, input string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := ServeNext(t.Context(), strings.NewReader(input), &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestServeNextAnswersInTheAgreedForm(t *testing.T) {
	for question, want := range map[string]string{
		`{"id":"a","dialect":"unix","expr":"30 2 * * *","zone":"Europe/Berlin","after":"2026-03-28T12:00:00Z","count":2,"gap":"","overlap":""}`: `{"id":"a","next":["2026-03-29T01:00:00Z","2026-03-30T00:30:00Z"],"exhausted":false}`,
		`{"id":"b","expr":"30 2 * * *","zone":"Europe/Berlin","after":"2026-03-28T12:00:00Z","gap":"SKIP"}`:                                     `{"id":"b","next":["2026-03-30T00:30:00Z"],"exhausted":false}`,
		`{"id":"c","expr":"* * * * *","zone":"UTC","after":"2099-12-31T23:58:30Z","count":3}`:                                                   `{"id":"c","next":["2099-12-31T23:59:00Z"],"exhausted":true}`,
		`{"id":"d","expr":"* * * * *","zone":"UTC","after":"2099-12-31T23:59:00Z"}`:                                                             `{"id":"d","next":[],"exhausted":true}`,
		`{"id":7,"expr":"0 0 29 2 *","zone":"UTC","after":"2026-01-01T00:00:00.25-00:00","count":null,"dialect":null}`:                          `{"id":7,"next":["2028-02-29T00:00:00Z"],"exhausted":false}`,
		`{"expr":"@daily","zone":"UTC","after":"1970-01-01T00:00:00Z"}`:                                                                         `{"id":null,"next":["1970-01-02T00:00:00Z"],"exhausted":false}`,
		` { "id" : "<&>" , "expr":"@daily","zone":"UTC","after":"2026-01-01T00:00:00+23:59" } ` + "\r":                                          `{"id":"<&>","next":["2026-01-01T00:00:00Z"],"exhausted":false}`,
	} {
		if got := serve(t, question+"\n"); len(got) != 1 || got[0] != want {
			t.Errorf("%s\n got %s\nwant %s", question, got, want)
		}
	}
}

func TestServeNextAnswersEveryBadLineWithAnError(t *testing.T) {
	const good = `{"id":"x","expr":"@daily","zone":"UTC","after":"2026-01-01T00:00:00Z"`
	for line, want := range map[string]struct {
		id   string
		code job.Code
	}{
		"":                                      {"null", job.CodeInvalid},
		"   ":                                   {"null", job.CodeInvalid},
		"not json":                              {"null", job.CodeInvalid},
		"[]":                                    {"null", job.CodeInvalid},
		"null":                                  {"null", job.CodeInvalid},
		`"text"`:                                {"null", job.CodeInvalid},
		"{":                                     {"null", job.CodeInvalid},
		good:                                    {`"x"`, job.CodeInvalid},
		good + `} {}`:                           {`"x"`, job.CodeInvalid},
		good + `}x`:                             {`"x"`, job.CodeInvalid},
		good + `,"expr":"@hourly"}`:             {`"x"`, job.CodeInvalid},
		good + `,"Expr":"@hourly"}`:             {`"x"`, job.CodeUnknownField},
		good + `,"extra":1}`:                    {`"x"`, job.CodeUnknownField},
		good + `,"count":0}`:                    {`"x"`, job.CodeInvalid},
		good + `,"count":-1}`:                   {`"x"`, job.CodeInvalid},
		good + `,"count":1001}`:                 {`"x"`, job.CodeInvalid},
		good + `,"count":1.5}`:                  {`"x"`, job.CodeInvalid},
		good + `,"count":1e2}`:                  {`"x"`, job.CodeInvalid},
		good + `,"count":"3"}`:                  {`"x"`, job.CodeInvalid},
		good + `,"count":99999999999999999999}`: {`"x"`, job.CodeInvalid},
		good + `,"gap":"shift_forward"}`:        {`"x"`, job.CodePolicyUnknown},
		good + `,"overlap":"LAST"}`:             {`"x"`, job.CodePolicyUnknown},
		good + `,"overlap":1}`:                  {`"x"`, job.CodeInvalid},
		good + `,"dialect":"vixie"}`:            {`"x"`, job.CodeScheduleInvalid},
		good + `,"dialect":"quartz"}`:           {`"x"`, job.CodeScheduleInvalid},
		`{"id":{"a":1},"expr":"@daily"}`:        {"null", job.CodeInvalid},
		`{"id":true,"expr":"@daily"}`:           {"null", job.CodeInvalid},
		`{"id":"y","zone":"UTC","after":"2026-01-01T00:00:00Z"}`:                                              {`"y"`, job.CodeScheduleInvalid},
		`{"id":"y","expr":"@daily","after":"2026-01-01T00:00:00Z"}`:                                           {`"y"`, job.CodeZoneUnknown},
		`{"id":"y","expr":"@daily","zone":"UTC"}`:                                                             {`"y"`, job.CodeTimeInvalid},
		`{"id":"y","expr":["@daily"],"zone":"UTC"}`:                                                           {`"y"`, job.CodeInvalid},
		`{"id":"y","expr":"0 0 2 * * *","zone":"UTC","after":"2026-01-01T00:00:00Z"}`:                         {`"y"`, job.CodeScheduleDialect},
		`{"id":"y","expr":"0 0 30 2 *","zone":"UTC","after":"2026-01-01T00:00:00Z"}`:                          {`"y"`, job.CodeScheduleNever},
		`{"id":"y","expr":"* * * * *` + "\x00" + `"}`:                                                         {`"y"`, job.CodeInvalid},
		`{"id":"` + "\xff" + `","expr":1}`:                                                                    {"\"\uFFFD\"", job.CodeInvalid},
		strings.Repeat("[", 60_000):                                                                           {"null", job.CodeInvalid},
		`{"id":"y","expr":"` + strings.Repeat("*,", 5_000) + `","zone":"UTC","after":"2026-01-01T00:00:00Z"}`: {`"y"`, job.CodeScheduleInvalid},
	} {
		got := serve(t, line+"\n"+good+"}\n")
		if len(got) != 2 || !strings.Contains(got[1], "2026-01-02T00:00:00Z") {
			t.Errorf("%.80q: answers %.200q", line, got)
			continue
		}
		var a answer
		if err := json.Unmarshal([]byte(got[0]), &a); err != nil || a.Error == nil || len(got[0]) > 1500 {
			t.Errorf("%.80q: answer %.200q, %v", line, got[0], err)
			continue
		}
		if a.Error.Code != want.code || string(a.ID) != want.id || a.Error.Message == "" || a.Next != nil || a.Exhausted != nil {
			t.Errorf("%.80q: got %s %+v, want %s %s", line, a.ID, a.Error, want.id, want.code)
		}
	}
}

func TestLinesThatAreTooLongAreAnsweredUnderTheIDAtTheirFront(t *testing.T) {
	for line, id := range map[string]string{
		`{"id":"z","expr":"` + strings.Repeat("*,", 40_000) + `"}`: `"z"`,
		`{"expr":"` + strings.Repeat("*,", 40_000) + `","id":"z"}`: "null",
		`{"id":"` + strings.Repeat("z", 80_000) + `"}`:             "null",
		`{"id":[` + strings.Repeat("1,", 40_000) + `1]}`:           "null",
		`{"id":{"a":1},"expr":"` + strings.Repeat("*,", 40_000):    "null",
	} {
		var a answer
		if err := json.Unmarshal([]byte(serve(t, line+"\n")[0]), &a); err != nil || a.Error == nil || a.Error.Code != job.CodeTooLarge || string(a.ID) != id {
			t.Errorf("%.40q: %s %+v, %v", line, a.ID, a.Error, err)
		}
	}
}

func TestServeNextAnswersALastLineWithoutEnd(t *testing.T) {
	question := `{"id":1,"expr":"@daily","zone":"UTC","after":"2026-01-01T00:00:00Z"}`
	if got := serve(t, question+"\n"+question); len(got) != 2 {
		t.Errorf("got %q", got)
	}
	var out bytes.Buffer
	if err := ServeNext(t.Context(), strings.NewReader(""), &out); err != nil || out.Len() != 0 {
		t.Errorf("no lines: %q, %v", out.String(), err)
	}
	if got := serve(t, strings.Repeat("x", 200_000)); len(got) != 1 || !strings.Contains(got[0], "TOO_LARGE") {
		t.Errorf("a long last line: got %.200q", got)
	}
}

// In a bubble an answer that is held back is a deadlock, which fails at once.
func TestServeNextAnswersBeforeItAsksForMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		questions, ask := io.Pipe()
		answers, tell := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := ServeNext(t.Context(), questions, tell)
			done <- errors.Join(err, tell.Close())
		}()
		lines := bufio.NewScanner(answers)
		for range 3 {
			if _, err := io.WriteString(ask, `{"id":1,"expr":"@daily","zone":"UTC","after":"2026-01-01T00:00:00Z"}`+"\n"); err != nil {
				t.Fatal(err)
			}
			if !lines.Scan() || !strings.Contains(lines.Text(), "2026-01-02") {
				t.Fatalf("no answer while the question is open: %q", lines.Text())
			}
		}
		if err := ask.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestServeNextReportsWhatStopsIt(t *testing.T) {
	broken := errors.New("broken")
	if err := ServeNext(t.Context(), iotest.ErrReader(broken), io.Discard); !errors.Is(err, broken) {
		t.Errorf("reading: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ServeNext(ctx, strings.NewReader("x\n"), io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	reader, writer := io.Pipe()
	if err := reader.CloseWithError(broken); err != nil {
		t.Fatal(err)
	}
	if err := ServeNext(t.Context(), strings.NewReader("x\n"), writer); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
}

func TestTimesAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"2026-07-12T01:30:00Z": "2026-07-12T01:30:00Z", "2026-07-12T01:30:00.123456789Z": "2026-07-12T01:30:00Z",
		"2026-07-12T01:30:00.1234567890123Z": "2026-07-12T01:30:00Z", "2026-07-12T01:30:00-02:30": "2026-07-12T04:00:00Z",
		"2024-02-29T23:59:59+00:00": "2024-02-29T23:59:59Z", "1970-01-01T00:00:00Z": "1970-01-01T00:00:00Z",
		"2099-12-31T23:59:59Z": "2099-12-31T23:59:59Z", "2026-07-12T01:30:00-00:00": "2026-07-12T01:30:00Z",
	} {
		if at, err := ParseTime("after", text); err != nil || at.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v", text, at, err)
		}
	}
	for _, text := range []string{
		"", "now", "2026-07-12", "2026-07-12T01:30:00", "2026-07-12t01:30:00Z", "2026-07-12T01:30:00z", "2026-07-12 01:30:00Z",
		"20260712T013000Z", "2026-7-12T01:30:00Z", "2026-07-12T1:30:00Z", "2026-07-12T01:30Z", "2026-07-12T01:30:60Z", "2026-07-12T24:00:00Z",
		"2026-02-29T00:00:00Z", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T12:60:00Z",
		"2026-07-12T01:30:00,5Z", "2026-07-12T01:30:00.Z", "2026-07-12T01:30:00+2:00", "2026-07-12T01:30:00+0200", "2026-07-12T01:30:00+02",
		"2026-07-12T01:30:00+25:00", "2026-07-12T01:30:00+24:00", "2026-07-12T01:30:00+02:60", "2026-07-12T01:30:00+02:00x", "2026-07-12T01:30:00Z ",
		" 2026-07-12T01:30:00Z", "2026-07-12T01:30:00 Europe/London", "1969-12-31T23:59:59Z", "2100-01-01T00:00:00Z", "+2026-07-12T01:30:00Z",
		"12026-07-12T01:30:00Z", "1783819800", "01/02/2024", "\u0662026-07-12T01:30:00Z", "2026-07-12T01:30:00." + strings.Repeat("1", 99) + "Z",
	} {
		if at, err := ParseTime("after", text); job.CodeOf(err) != job.CodeTimeInvalid {
			t.Errorf("%q: read as %v, %v", text, at, err)
		}
	}
}
