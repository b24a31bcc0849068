package settings

// Profiles lists the profiles, in the order in which they are documented.
var Profiles = []string{"small", "large"}

// OfProfile is what an installation is without a word in its file: small for a
// team's thousands of jobs, large for millions. While nothing is due small costs
// about $45 a month, most of it for being watched; docs/deploy.md says what lowers
// that.
// The second value is false when there is no such profile.
func OfProfile(name string) (Settings, bool) {
	switch name {
	case "small":
		return small(), true
	case "large":
		return large(), true
	}
	return Settings{}, false
}

func small() Settings {
	return Settings{
		Profile: "small", Prefix: "belfry", Shards: 256, RetentionDays: 30, Architecture: "arm64", Version: "dev", LogLevel: "info", LogDays: 30, Metrics: true, Breaker: "on", TickEnabled: true,
		Tables:    Tables{DeletionProtection: true},
		Functions: Functions{ReservedConcurrency: true, ScanConcurrency: 10},
		API:       API{Authorizer: "iam", Rate: 50, Burst: 100},
		Workers:   Workers{Deployed: true, Image: "asset", PublicIP: true, FlowLogs: true, IdleMinutes: 10},
		Archive:   Archive{Enabled: true, KeepDays: 400, ColdDays: 90, LockMode: "governance", WindowSeconds: 300},
		Traces:    Traces{Percent: 100},
		Alarms:    Alarms{OldestMessage: 1800},
	}
}

func large() Settings {
	s := small()
	s.Profile, s.Shards = "large", 4096
	s.Tables.WarmReads, s.Tables.WarmWrites, s.Tables.ContributorInsights = 30000, 40000, true
	s.Functions.ScanConcurrency = 256
	s.Functions.Pollers = Pollers{{Pool: "fast-io", Least: 20}}
	s.API.Rate, s.API.Burst = 1000, 2000
	s.Workers.PublicIP, s.Workers.NATGateways = false, 2
	return s
}
