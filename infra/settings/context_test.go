package settings_test

import (
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/infra/settings"
)

func TestAMisspeltNameOfTheContextIsRefusedWithTheNearest(t *testing.T) {
	for name, want := range map[string]string{
		"belfry:tables.warm_write": "belfry:tables.warm_writes", "belfry:profil": "belfry:profile", "belfry:API.rate": "belfry:api.rate",
		"belfry:workers.publicip": "belfry:workers.public_ip", "belfry:setings": "belfry:settings", "belfry:": "belfry:built",
		"belfry:tables.warm_writes": "", "belfry:settings": "", "@aws-cdk/core:checkSecretUsage": "", "other": "",
	} {
		err := settings.CheckContext([]string{"belfry:prefix", name}, "belfry:settings", "belfry:built")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "did you mean "+want) {
			t.Errorf("%s: answered %v, want %q", name, err, want)
		}
	}
}
