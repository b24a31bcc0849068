package job_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestWhatIsLeftOutTakesTheDocumentedDefaults(t *testing.T) {
	got := job.Definition{Job: "nightly", Schedule: job.Schedule{Cron: "30 3 * * *"}, Target: job.Target{Log: &job.LogTarget{}}}.WithDefaults()
	want := job.Definition{Job: "nightly", Schedule: job.Schedule{Cron: "30 3 * * *", Dialect: "unix", Zone: "UTC"}, Target: job.Target{Log: &job.LogTarget{}},
		Pool: "fast-io", Priority: "normal", Timeout: job.Duration(time.Minute), Concurrency: "ALLOW", OnResume: "FROM_NOW",
		Retry:   job.Retry{MaxAttempts: 5, Base: job.Duration(time.Second), Max: job.Duration(5 * time.Minute), MaxAge: job.Duration(day), MaxLost: 3},
		Misfire: &job.Misfire{Policy: "FIRE_ONCE", Window: job.Duration(day), Max: 1000, Tolerance: job.Duration(time.Minute)}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v %+v\nwant %+v %+v", got, got.Misfire, want, want.Misfire)
	}
	if err := got.Validate(); err != nil {
		t.Errorf("the defaults break a rule: %v", err)
	}
}

func TestDefaultsKeepWhatIsGiven(t *testing.T) {
	t.Run("a misfire policy without a window has none", func(t *testing.T) {
		given := &job.Misfire{Policy: job.MisfireSkip}
		got := job.Definition{Misfire: given}.WithDefaults().Misfire
		if want := (job.Misfire{Policy: job.MisfireSkip, Max: 1000, Tolerance: job.Duration(time.Minute)}); *got != want {
			t.Errorf("got %+v, want %+v", *got, want)
		}
		if *given != (job.Misfire{Policy: job.MisfireSkip}) {
			t.Errorf("the caller's own value was changed: %+v", *given)
		}
	})
	t.Run("an interval has no dialect", func(t *testing.T) {
		if got := (job.Definition{Schedule: job.Schedule{Every: job.Duration(time.Second)}}).WithDefaults().Schedule.Dialect; got != "" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("another dialect stays", func(t *testing.T) {
		if got := (job.Definition{Schedule: job.Schedule{Cron: "x", Dialect: job.DialectQuartz}}).WithDefaults().Schedule.Dialect; got != job.DialectQuartz {
			t.Errorf("got %q", got)
		}
	})
}

// someDefinition draws a definition in which anything may be left out.
func someDefinition(t *rapid.T) job.Definition {
	length := rapid.Custom(func(t *rapid.T) job.Duration {
		return job.Duration(rapid.Int64Range(0, 5).Draw(t, "s")) * job.Duration(time.Second)
	})
	word := rapid.SampledFrom([]string{"", "a", "b"})
	d := job.Definition{Job: "j", Pool: word.Draw(t, "pool"), Priority: word.Draw(t, "priority"), Timeout: length.Draw(t, "timeout"),
		Concurrency: job.Concurrency(word.Draw(t, "concurrency")), Target: job.Target{Log: &job.LogTarget{}},
		Schedule: job.Schedule{Cron: word.Draw(t, "cron"), Zone: word.Draw(t, "zone"), Dialect: job.Dialect(word.Draw(t, "dialect"))},
		Retry: job.Retry{MaxAttempts: rapid.IntRange(0, 2).Draw(t, "attempts"), Base: length.Draw(t, "base"), Max: length.Draw(t, "max"),
			MaxAge: length.Draw(t, "age"), MaxLost: rapid.IntRange(0, 2).Draw(t, "lost")}}
	if rapid.Bool().Draw(t, "misfire") {
		d.Misfire = &job.Misfire{Policy: job.MisfirePolicy(word.Draw(t, "policy")), Window: length.Draw(t, "window"),
			Max: rapid.IntRange(0, 2).Draw(t, "most"), Tolerance: length.Draw(t, "tolerance")}
	}
	return d
}

func TestDefaultsAppliedTwiceChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := someDefinition(t)
		once := d.WithDefaults()
		if twice := once.WithDefaults(); !reflect.DeepEqual(once, twice) {
			t.Fatalf("once  %+v %+v\ntwice %+v %+v", once, once.Misfire, twice, twice.Misfire)
		}
		encoded, err := json.Marshal(once)
		if err != nil {
			t.Fatal(err)
		}
		var stored job.Definition
		if err := json.Unmarshal(encoded, &stored); err != nil || !reflect.DeepEqual(stored.WithDefaults(), once) {
			t.Fatalf("stored as %s, it comes back as %+v, %v", encoded, stored, err)
		}
	})
}

func TestTargetsNameTheirKindAndHandler(t *testing.T) {
	for name, row := range map[string]struct {
		target        job.Target
		kind, handler string
	}{
		"a webhook":            {job.Target{Webhook: &job.Webhook{}}, "webhook", "belfry.webhook"},
		"a log":                {job.Target{Log: &job.LogTarget{}}, "log", "belfry.log"},
		"a handler's own name": {job.Target{Handler: &job.HandlerTarget{Name: "report"}}, "handler", "report"},
	} {
		t.Run(name, func(t *testing.T) {
			if row.target.Kind() != row.kind || row.target.HandlerName() != row.handler {
				t.Errorf("got %q and %q", row.target.Kind(), row.target.HandlerName())
			}
		})
	}
}

func TestMisfireReadsItsShorthandAndItsObject(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want *job.Misfire
	}{
		"the policy's name alone": {`{"misfire":"SKIP"}`, &job.Misfire{Policy: "SKIP"}},
		"the object": {`{"misfire":{"policy":"FIRE_ALL","window":"1d","max":5,"rate":0.5,"tolerance":"90s"}}`,
			&job.Misfire{Policy: "FIRE_ALL", Window: job.Duration(day), Max: 5, Rate: 0.5, Tolerance: job.Duration(90 * time.Second)}},
		"nothing": {`{"misfire":null}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var d job.Definition
			if err := json.Unmarshal([]byte(row.text), &d); err != nil || !reflect.DeepEqual(d.Misfire, row.want) {
				t.Errorf("got %+v, %v; want %+v", d.Misfire, err, row.want)
			}
		})
	}
	for name, text := range map[string]string{
		"an unknown key":          `{"policy":"SKIP","windw":"1d"}`,
		"a number":                `7`,
		"a list":                  `["SKIP"]`,
		"a duration as a number":  `{"window":60}`,
		"a duration that is none": `{"tolerance":"soon"}`,
		"text that has no end":    `"SKIP`,
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			var m job.Misfire
			if err := json.Unmarshal([]byte(text), &m); err == nil {
				t.Errorf("%s reads as %+v", text, m)
			}
		})
	}
}

func TestOnlyFiveFieldsHaveADialectByDefault(t *testing.T) {
	for cron, want := range map[string]job.Dialect{"0 3 * * *": job.DialectUnix, "@daily": job.DialectUnix, "0 0 3 * * ?": "", "0 0 3 * * ? *": "", "0 3 * *": job.DialectUnix} {
		if got := (job.Definition{Schedule: job.Schedule{Cron: cron}}).WithDefaults().Schedule.Dialect; got != want {
			t.Errorf("%q: got %q, want %q", cron, got, want)
		}
	}
	given := job.Definition{Schedule: job.Schedule{Cron: "0 0 3 * * ?", Dialect: job.DialectQuartz}}
	if got := given.WithDefaults().Schedule.Dialect; got != job.DialectQuartz {
		t.Errorf("a dialect that is given became %q", got)
	}
}
