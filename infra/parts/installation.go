package parts

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/settings"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/queue"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// Installation is what every part is told about the installation it is in.
type Installation struct {
	Settings settings.Settings
	Pools    dispatch.Pools
	Built    string        // the folder that holds a folder with the bootstrap of each function
	Key      awskms.IKey   // that tables and queues are encrypted with; nil = AWS's own
	Alarms   awssns.ITopic // where alarms are sent
}

// Name is the name of a thing of the installation.
func (i Installation) Name(word string) string { return i.Settings.Prefix + "-" + word }

// FunctionName is the name of a function; the work function is one a pool.
func (i Installation) FunctionName(function, pool string) string {
	if pool == "" {
		return i.Name(function)
	}
	return i.Name(function + "-" + strings.ReplaceAll(pool, ".", "_"))
}

// Queues names the queues, as the runtime does.
func (i Installation) Queues() queue.Names { return queue.Names{Prefix: i.Settings.Prefix} }

// Tables names the tables, as the runtime does.
func (i Installation) Tables() store.Tables { return store.TablesOf(i.Settings.Prefix) }

// Environment is what functions and container workers are told, the pool's name
// and secrets apart. Absent settings stay absent, so that a variable is never
// there without a value.
func (i Installation) Environment() map[string]*string {
	s := i.Settings
	told := map[string]*string{
		"BELFRY_PREFIX": &s.Prefix, "BELFRY_SHARDS": jsii.String(strconv.Itoa(s.Shards)), "BELFRY_RESTORE_EPOCH": jsii.String(strconv.Itoa(s.RestoreEpoch)),
		"BELFRY_LOG_LEVEL": &s.LogLevel, "BELFRY_METRICS": onOff(s.Metrics), "BELFRY_BREAKER": &s.Breaker, "BELFRY_VERSION": &s.Version, "BELFRY_POOLS": jsii.String(settings.Document(i.Pools)),
		"BELFRY_RETENTION_DAYS": jsii.String(strconv.Itoa(s.RetentionDays)),
	}
	if len(s.Types) > 0 {
		told["BELFRY_TYPES"] = jsii.String(strings.Join(s.Types, ","))
	}
	if len(s.Webhooks.Allow) > 0 {
		told["BELFRY_WEBHOOK_ALLOW"] = jsii.String(strings.Join(s.Webhooks.Allow, ","))
	}
	i.tellTraces(told)
	return told
}

// NewKey is the key that the settings want tables and queues encrypted with;
// nil = AWS's own.
func NewKey(scope constructs.Construct, i Installation) awskms.IKey {
	if i.Settings.Tables.KeyARN == "" {
		return nil
	}
	return awskms.Key_FromKeyArn(scope, jsii.String("Key"), &i.Settings.Tables.KeyARN)
}

func onOff(on bool) *string {
	if on {
		return jsii.String("on")
	}
	return jsii.String("off")
}

func (i Installation) built(function string) *string {
	return jsii.String(filepath.Join(i.Built, function))
}

func seconds(n int) awscdk.Duration { return awscdk.Duration_Seconds(jsii.Number(n)) }
func minutes(n int) awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(n)) }
