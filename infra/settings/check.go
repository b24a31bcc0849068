package settings

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

func (k Key) refuse(value, why string) error { return refusal(k.Path, value, k.Bound, why) }

func refusal(path, value, bound, why string) error {
	return &job.Error{Code: job.CodeInvalid, Field: path, Value: job.Shorten(value), Bound: bound, Message: "\"" + job.Shorten(value) + "\" " + why,
		Fix: "change it in the settings file or the context"}
}

// check holds the value against the key's own bounds.
func (k Key) check() error {
	text := k.Text()
	if k.value.Kind() == reflect.String && text == "" && k.tag.Get("empty") != "" {
		return nil
	}
	if one := k.tag.Get("one"); one != "" && !slices.Contains(strings.Fields(one), text) {
		return k.refuse(text, "is not one of the allowed values")
	}
	if form := k.tag.Get("form"); form != "" && !regexp.MustCompile(form).MatchString(text) {
		return k.refuse(text, "does not have the form")
	}
	if k.tag.Get("least") == "" {
		return nil
	}
	least, _ := strconv.ParseInt(k.tag.Get("least"), 10, 64)
	most, _ := strconv.ParseInt(k.tag.Get("most"), 10, 64)
	if n := k.value.Int(); n < least || n > most {
		return k.refuse(text, "is out of bounds")
	}
	return nil
}

// Check refuses settings that cannot be deployed with these pools. The error
// joins one *job.Error for each fault, which names key, value and bound.
func (s Settings) Check(pools dispatch.Pools) error {
	var faults []error
	for _, k := range Keys(&s) {
		faults = append(faults, k.check())
	}
	names := queue.Names{Prefix: s.Prefix}
	faults = append(faults, names.Check(pools.Names()), s.checkAPI(), s.checkNetwork(), s.checkAllow(), s.checkPools(pools), s.checkArchive(), s.checkAlarms(), s.checkImage(), s.checkTargets(), s.checkSecrets(), s.checkBreaker(), s.checkPayloads(), job.CheckTypes(s.Types))
	return errors.Join(faults...)
}

// longestFunctionName is Lambda's.
const longestFunctionName = 64

func (s Settings) checkAPI() error {
	var faults []error
	if s.API.Authorizer == "jwt" && (s.API.JWTIssuer == "" || len(s.API.JWTAudience) == 0) {
		faults = append(faults, refusal("api.authorizer", "jwt", "jwt with jwt_issuer and jwt_audience", "needs jwt_issuer and jwt_audience"))
	}
	if (s.API.Domain == "") != (s.API.CertificateARN == "") {
		faults = append(faults, refusal("api.domain", s.API.Domain, "both or neither", "needs certificate_arn, and the other way round"))
	}
	if (s.API.HostedZoneID == "") != (s.API.HostedZoneName == "") || (s.API.HostedZoneID != "" && s.API.Domain == "") {
		faults = append(faults, refusal("api.hosted_zone_id", s.API.HostedZoneID, "with hosted_zone_name and domain", "needs hosted_zone_name and domain"))
	}
	return errors.Join(faults...)
}

func (s Settings) checkNetwork() error {
	w := s.Workers
	given := w.VPCID != ""
	if given != (len(w.SubnetIDs) > 0) || len(w.SubnetIDs) != len(w.AvailabilityZones) {
		return refusal("workers.vpc_id", w.VPCID, "with as many subnet_ids as availability_zones", "needs subnet_ids and availability_zones, one for one")
	}
	if !given && !w.PublicIP && w.NATGateways == 0 {
		return refusal("workers.public_ip", "false", "true, or nat_gateways of 1 or more", "leaves workers without a way to the queues")
	}
	return nil
}

func (s Settings) checkBreaker() error {
	if _, _, err := lifecycle.ParseBreakerRules(s.Breaker); err != nil {
		return refusal("breaker", s.Breaker, lifecycle.BreakerBound, err.Error())
	}
	return nil
}

func (s Settings) checkAllow() error {
	_, err := job.ParseReach(s.Webhooks.Allow)
	var known *job.Error
	if errors.As(err, &known) {
		return refusal("webhooks.allow", known.Value, known.Bound, "is neither address, network nor host name")
	}
	return err
}

// checkPools holds pools and pollers against each other, and the pools' text
// against what a function's environment holds (4 KB in all).
func (s Settings) checkPools(pools dispatch.Pools) error {
	const most = 3000
	var faults []error
	lists := len(strings.Join(s.Secrets, ",")) + len(strings.Join(s.Webhooks.Allow, ",")) + len(s.Payloads.Text())
	if size := len(Document(pools)); size+lists > most {
		faults = append(faults, refusal("pools_file", s.PoolsFile, strconv.Itoa(most)+" bytes as JSON, with the lists of secrets, of payloads and of what webhooks may call",
			"holds "+strconv.Itoa(size)+" bytes, and the lists "+strconv.Itoa(lists)+", more than a function's environment takes"))
	}
	functions := pools.Of(dispatch.KindLambda)
	for _, p := range functions {
		if name := s.Prefix + "-work-" + p.Name; len(name) > longestFunctionName {
			faults = append(faults, refusal("prefix", s.Prefix, strconv.Itoa(longestFunctionName)+" characters with -work- and the pool's name",
				"makes the function "+name+", a name too long"))
		}
	}
	for _, p := range s.Functions.Pollers {
		pool, known := functions.Find(p.Pool)
		if !known {
			faults = append(faults, refusal("functions.pollers", p.Pool, "a pool of kind lambda", "is no pool of kind lambda"))
		} else if most := MostPollers(pool); p.Least < leastPollers || p.Least > min(200, most) {
			faults = append(faults, refusal("functions.pollers", strconv.Itoa(p.Least),
				"2 to "+strconv.Itoa(min(200, most))+", a tenth of the pool's max_concurrency",
				"is no number of pollers for "+p.Pool+", whose max_concurrency is "+strconv.Itoa(pool.MaxConcurrency)))
		}
	}
	return errors.Join(faults...)
}

// leastPollers is Lambda's.
const leastPollers = 2

// MostPollers is how many provisioned pollers a pool may have: each drives ten
// invocations at a time, and together no more than the pool's ceiling. Below 2,
// Lambda's own least, the pool can have none.
func MostPollers(pool dispatch.Pool) int { return pool.MaxConcurrency / 10 }

// longestRegion is the length of the longest region's name, which the bucket's
// name holds beside an account's twelve digits; S3 takes 63 characters.
const longestRegion = 14

func (s Settings) checkArchive() error {
	a := s.Archive
	if !a.Enabled {
		return nil
	}
	var faults []error
	if most := 63 - len("-archive-") - 12 - len("-") - longestRegion; len(s.Prefix) > most {
		faults = append(faults, refusal("prefix", s.Prefix, strconv.Itoa(most)+" characters with archive.enabled", "makes the name of the archive's bucket too long"))
	}
	if a.KeepDays > 0 && a.LockDays > a.KeepDays {
		faults = append(faults, refusal("archive.lock_days", strconv.Itoa(a.LockDays), "at most keep_days", "locks objects for longer than they are kept"))
	}
	if a.KeepDays > 0 && a.ColdDays >= a.KeepDays {
		faults = append(faults, refusal("archive.cold_days", strconv.Itoa(a.ColdDays), "less than keep_days", "moves objects when they go"))
	}
	return errors.Join(faults...)
}
