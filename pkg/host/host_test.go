package host

import "testing"

func TestTheProcessIsAFunctionWhereThePlatformNamesItsRuntime(t *testing.T) {
	for api, want := range map[string]bool{"": false, "127.0.0.1:9001": true} {
		if got := isFunction(func(name string) (string, bool) { return api, name == "AWS_LAMBDA_RUNTIME_API" }); got != want {
			t.Errorf("with %q it is a function: %v", api, got)
		}
	}
}
