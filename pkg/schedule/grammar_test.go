package schedule

import (
	"strings"
	"testing"
)

func TestUnixGrammarReads(t *testing.T) {
	for meaning, c := range map[string]struct{ text, normal string }{
		"every minute":                                  {"* * * * *", "0 * * * * * *"},
		"leading zeros and blanks of both kinds":        {" 05\t07  01 02 03 ", "0 5 7 1 2 3 *"},
		"a line end after the expression":               {"0 0 * * *\r\n", "0 0 0 * * * *"},
		"a list in any order, with repetition":          {"30,0,30 * * * *", "0 0,30 * * * * *"},
		"a step over a star":                            {"*/20 * * * *", "0 0,20,40 * * * * *"},
		"a step over a range":                           {"10-30/10 * * * *", "0 10,20,30 * * * * *"},
		"a step over a value runs to the field's end":   {"50/4 * * * *", "0 50,54,58 * * * * *"},
		"a step with a leading zero":                    {"*/09 * * * *", "0 0,9,18,27,36,45,54 * * * * *"},
		"a range that is the whole field":               {"0-59 0-23 * 1-12 *", "0 * * * * * *"},
		"a range of one":                                {"5-5 * * * *", "0 5 * * * * *"},
		"a star in a list makes the field open":         {"*,5 * * * *", "0 * * * * * *"},
		"months by name, short, long, in any case":      {"0 0 1 jan,FEB-Apr,September *", "0 0 0 1 1-4,9 * *"},
		"weekdays by name, short, long, in any case":    {"0 0 * * mon,THURSDAY-Sat", "0 0 0 * * 1,4-6 *"},
		"a range from a name to a number":               {"0 0 * * mon-3", "0 0 0 * * 1-3 *"},
		"seven is Sunday":                               {"0 0 * * 7", "0 0 0 * * 0 *"},
		"a range that ends on Sunday as seven":          {"0 0 * * 5-7", "0 0 0 * * 0,5-6 *"},
		"a range that ends on Sunday by name":           {"0 0 * * fri-sun", "0 0 0 * * 0,5-6 *"},
		"a stepped range that ends on Sunday":           {"0 0 * * 1-7/2", "0 0 0 * * 0-1,3,5 *"},
		"Sunday to Sunday":                              {"0 0 * * 0-7", "0 0 0 * * 0-6 *"},
		"Sunday to Tuesday":                             {"0 0 * * sun-tue", "0 0 0 * * 0-2 *"},
		"a stepped weekday runs to Saturday":            {"0 0 * * 4/2", "0 0 0 * * 4,6 *"},
		"a step from seven is a step from Sunday":       {"0 0 * * 7/3", "0 0 0 * * 0,3,6 *"},
		"a full but restricted weekday field":           {"0 0 1 * */1", "0 0 0 1 * 0-6 *"},
		"a full but restricted day field":               {"0 0 1-31 * 1", "0 0 0 1-31 * 1 *"},
		"question marks leave a day open":               {"0 0 ? * ?", "0 0 0 * * * *"},
		"the last day, in a list":                       {"0 0 l,15 * *", "0 0 0 15,L * * *"},
		"the last weekday":                              {"0 0 Lw * *", "0 0 0 LW * * *"},
		"the weekday nearest a day, with leading zero":  {"0 0 01w,15W * *", "0 0 0 1W,15W * * *"},
		"the last Friday in three spellings":            {"0 0 * * 5L,friL,fridayl", "0 0 0 * * 5L *"},
		"the last Sunday as seven":                      {"0 0 * * 7L", "0 0 0 * * 0L *"},
		"the second Monday, the first Sunday":           {"0 0 * * mon#2,7#1", "0 0 0 * * 0#1,1#2 *"},
		"plain weekdays, last and nth ones in one list": {"0 0 * * 1-2,5L,3#5", "0 0 0 * * 1-2,5L,3#5 *"},
		"yearly":   {"@yearly", "0 0 0 1 1 * *"},
		"annually": {"@annually", "0 0 0 1 1 * *"},
		"monthly":  {"@monthly", "0 0 0 1 * * *"},
		"weekly":   {"@weekly", "0 0 0 * * 0 *"},
		"daily":    {" @daily ", "0 0 0 * * * *"},
		"midnight": {"@midnight", "0 0 0 * * * *"},
		"hourly":   {"@hourly", "0 0 * * * * *"},
		"a step as large as the weekday field's last name": {"0 0 * * */7", "0 0 0 * * 0 *"},
	} {
		t.Run(meaning, func(t *testing.T) {
			f, err := parseUnix(c.text)
			if err != nil {
				t.Fatalf("%q: %v", c.text, err)
			}
			if got := normalText(f); got != c.normal {
				t.Errorf("%q: got %q, want %q", c.text, got, c.normal)
			}
			if _, err := newWall(f); err != nil {
				t.Errorf("%q: the engine refuses its normal form: %v", c.text, err)
			}
		})
	}
}

// refused is a wrong value of one field: which field the error must name, which
// part of the text as its value, and a word that its message must hold.
type refused struct{ text, field, value, message string }

func (r refused) check(t *testing.T) {
	t.Helper()
	r.checkWith(t, parseUnix)
}

func TestUnixGrammarRefusesAndNamesFieldValueAndRule(t *testing.T) {
	for reason, r := range map[string]refused{
		"a minute too large":           {"60 * * * *", "minute", "60", "out of range 0-59"},
		"an hour too large":            {"0 24 * * *", "hour", "24", "out of range 0-23"},
		"day zero":                     {"0 0 0 * *", "day-of-month", "0", "out of range 1-31"},
		"month thirteen":               {"0 0 1 13 *", "month", "13", "1-12"},
		"weekday eight":                {"0 0 * * 8", "day-of-week", "8", "0-7"},
		"a number of twenty digits":    {"0 99999999999999999999 * * *", "hour", "99999999999999999999", "out of range"},
		"three digits":                 {"001 * * * *", "minute", "001", "too many digits"},
		"a sign":                       {"+1 * * * *", "minute", "+1", "not a value"},
		"a minus":                      {"-1 * * * *", "minute", "-1", "missing"},
		"an open range":                {"1- * * * *", "minute", "1-", "missing"},
		"a range of three":             {"1-2-3 * * * *", "minute", "1-2-3", "not a value"},
		"a star in a range":            {"*-5 * * * *", "minute", "*-5", "not a value"},
		"a star with a digit":          {"*5 * * * *", "minute", "*5", "not a value"},
		"two stars":                    {"** * * * *", "minute", "**", "not a value"},
		"a range that runs backwards":  {"0 22-2 * * *", "hour", "22-2", "backwards"},
		"weekdays backwards":           {"0 0 * * fri-mon", "day-of-week", "fri-mon", "backwards"},
		"Sunday as seven, backwards":   {"0 0 * * 7-2", "day-of-week", "7-2", "backwards"},
		"a step of zero":               {"*/0 * * * *", "minute", "*/0", "0"},
		"a step larger than its field": {"*/60 * * * *", "minute", "*/60", "1-59"},
		"a weekday step of eight":      {"0 0 * * */8", "day-of-week", "*/8", "1-7"},
		"a step that is no number":     {"*/a * * * *", "minute", "*/a", "not a whole number"},
		"a step left out":              {"*/ * * * *", "minute", "*/", "not a whole number"},
		"two steps":                    {"*/5/5 * * * *", "minute", "*/5/5", "not a whole number"},
		"a negative step":              {"*/-5 * * * *", "minute", "*/-5", "not a whole number"},
		"a step of three digits":       {"*/005 * * * *", "minute", "*/005", "too many digits"},
		"an empty list element":        {"1,,2 * * * *", "minute", "1,,2", "empty"},
		"a comma at the end":           {"0 1, * * *", "hour", "1,", "empty"},
		"a question mark for minutes":  {"? * * * *", "minute", "?", "only allowed in the two day fields"},
		"a question mark for months":   {"0 0 1 ? *", "month", "?", "only allowed in the two day fields"},
		"a question mark in a list":    {"0 0 1,? * *", "day-of-month", "1,?", "alone"},
		"a question mark with a step":  {"0 0 ?/2 * *", "day-of-month", "?/2", "not a value"},
		"a weekday as month":           {"0 0 1 mon *", "month", "mon", "not a value"},
		"a name that is too long":      {"0 0 1 sept *", "month", "sept", "not a value"},
		"a hash":                       {"H * * * *", "minute", "H", "not a value"},
		"W alone":                      {"0 0 W * *", "day-of-month", "W", "15W"},
		"W in a range":                 {"0 0 1-15W * *", "day-of-month", "1-15W", "15W"},
		"W beyond the month":           {"0 0 32W * *", "day-of-month", "32W", "out of range"},
		"W for a weekday":              {"0 0 * * 1W", "day-of-week", "1W", "not a value"},
		"an offset from the last day":  {"0 0 L-3 * *", "day-of-month", "L-3", "offset"},
		"L with a step":                {"0 0 L/2 * *", "day-of-month", "L/2", "LW"},
		"L alone for a weekday":        {"0 0 * * L", "day-of-week", "L", "which weekday"},
		"L before the weekday":         {"0 0 * * L5", "day-of-week", "L5", "not a value"},
		"L after a range":              {"0 0 * * 1-5L", "day-of-week", "1-5L", "not a value"},
		"L with a step after":          {"0 0 * * 5L/2", "day-of-week", "5L/2", "not a value"},
		"a sixth Monday":               {"0 0 * * mon#6", "day-of-week", "mon#6", "1-5"},
		"a zeroth Monday":              {"0 0 * * mon#0", "day-of-week", "mon#0", "1-5"},
		"an nth without number":        {"0 0 * * mon#", "day-of-week", "mon#", "1-5"},
		"an nth without weekday":       {"0 0 * * #2", "day-of-week", "#2", "missing"},
		"an nth of a range":            {"0 0 * * 1-5#2", "day-of-week", "1-5#2", "not a value"},
		"an nth among days":            {"0 0 1#2 * *", "day-of-month", "1#2", "not a value"},
	} {
		t.Run(reason, r.check)
	}
}

func TestUnixGrammarRefusesWholeExpressions(t *testing.T) {
	for reason, r := range map[string]refused{
		"nothing":                     {"", "cron", "", "empty"},
		"blanks":                      {" \t\n", "cron", " \t\n", "empty"},
		"four fields":                 {"* * * *", "cron", "* * * *", "4 given"},
		"eight fields":                {"* * * * * * * *", "cron", "* * * * * * * *", "8 given"},
		"a line end inside":           {"* * *\n* *", "cron", "* * *\n* *", "U+000A"},
		"a space that does not break": {"*\u00a0* * * *", "cron", "*\u00a0* * * *", "U+00A0"},
		"digits of another script":    {"\u0661 * * * *", "cron", "\u0661 * * * *", "U+0661"},
		"a NUL":                       {"* * * * *\x00", "cron", "* * * * *\x00", "U+0000"},
		"a DEL":                       {"* * * * *\x7f", "cron", "* * * * *\x7f", "U+007F"},
		"bytes that are no text":      {"* * * * \xff", "cron", "* * * * \xff", "U+FFFD"},
		"a nickname with more":        {"@daily extra", "cron", "@daily", "nothing may follow"},
		"a nickname in capitals":      {"@Daily", "cron", "@Daily", "lower case"},
		"an unknown nickname":         {"@", "cron", "@", "not a nickname"},
		"an interval as nickname":     {"@every 5m", "cron", "@every", "key every"},
		"a boot":                      {"@reboot", "cron", "@reboot", "by hand"},
		"a zone in front":             {"CRON_TZ=UTC 0 2 * * *", "cron", "CRON_TZ=UTC 0 2 * * *", "key zone"},
		"a wrapper of another system": {"cron(0 9 ? * 2-6 *)", "cron", "cron(0 9 ? * 2-6 *)", "wrapper"},
		"an ISO duration":             {"PT5M", "cron", "PT5M", "key every"},
	} {
		t.Run(reason, r.check)
	}
	long := strings.Repeat("0,", 500) + "0 * * * *"
	if _, err := parseUnix(long); err == nil || !strings.Contains(err.Error(), "1000") || len(err.Error()) > 400 {
		t.Errorf("a long expression: %v", err)
	}
}

func TestImpossibleDatesAreKnownWithoutSearching(t *testing.T) {
	for text, want := range map[string]bool{
		"0 0 30 2 *": true, "0 0 31 2,4,6,9,11 *": true, "0 0 30W,31W 2 *": true, "0 0 31 */2 *": false,
		"0 0 31 2,4,6,9,11 1": false, "0 0 30,L 2 *": false, "0 0 30,LW 2 *": false, "0 0 29 2 *": false,
		"0 0 31 2 mon#5": false, "0 0 31 11,12 *": false, "0 0 29,30 2 *": false,
	} {
		f, err := parseUnix(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.impossible(); got != want {
			t.Errorf("%q: impossible %v, want %v", text, got, want)
		}
		w, err := newWall(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, fires := w.next(-1); fires == want {
			t.Errorf("%q: the engine fires: %v", text, fires)
		}
	}
}
