package main

import (
	"strings"
	"testing"
)

func TestAConditionOrANameThatSaysNothingChangesNothing(t *testing.T) {
	t.Parallel()
	url := service(t)
	const file = "job: kept\nschedule: {every: 1h}\ntarget: {log: {}}\n"
	if got := belfry(t, url, file, "apply", "-f", "-"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	edited := strings.Replace(file, "1h", "2h", 1)
	rows := map[string]struct {
		args []string
		want string
	}{
		"deleting at revision 0":          {[]string{"jobs", "delete", "kept", "--if-revision", "0"}, "--if-revision 0 names no revision"},
		"deleting at a negative revision": {[]string{"jobs", "delete", "kept", "--if-revision=-1"}, "--if-revision -1 names no revision"},
		"putting at revision 0":           {[]string{"jobs", "put", "-f", "-", "--if-revision", "0"}, "--if-revision 0 names no revision"},
		"putting at a negative revision":  {[]string{"jobs", "put", "-f", "-", "--if-revision=-1"}, "--if-revision -1 names no revision"},
		"two conditions, one of them 0":   {[]string{"jobs", "put", "-f", "-", "--if-absent", "--if-revision", "0"}, "contradict each other"},
		"deleting a job without name":     {[]string{"jobs", "delete", ""}, "JOB is empty"},
		"an execution without id":         {[]string{"executions", "cancel", ""}, "ID is empty"},
	}
	for name, row := range rows {
		if got := belfry(t, url, edited, row.args...); got.code != exitUsage || !strings.Contains(got.err, row.want) || got.out != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := belfry(t, url, file, "jobs", "put", "-f", "-", "--if-revision", "1"); got.code != 0 || !strings.HasPrefix(got.out, "unchanged") {
		t.Errorf("the job was changed: %+v", got)
	}
}
