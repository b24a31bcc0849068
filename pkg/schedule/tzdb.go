package schedule

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// The database is embedded here rather than through time/tzdata, which the
// library asks only after the machine's own files: two machines could then
// give one revision different times, and no version could be told.
//
//go:generate sh -c "cp $(go env GOROOT)/lib/time/zoneinfo.zip tzdb/ && sed -n s/^DATA=//p $(go env GOROOT)/lib/time/update.bash > tzdb/VERSION"
var (
	//go:embed tzdb/zoneinfo.zip
	tzdbZip []byte
	//go:embed tzdb/VERSION
	tzdbVersion string
)

// TZDBVersion names the release of the IANA time zone database that all plans
// are computed from, such as "2025c". It is recorded on a job's revision.
func TZDBVersion() string { return strings.TrimSpace(tzdbVersion) }

// Zones is a time zone database. Nil is the embedded one, which all of Belfry
// goes by; another is what a later or an earlier build goes by. It is safe for
// concurrent use.
type Zones struct {
	version string
	files   map[string]*zip.File
	loaded  sync.Map // name → *zone; bounded by the names in the database
}

// OpenZones reads a database in the form of Go's zoneinfo.zip: one file a zone,
// under the zone's name. The version is the caller's word for it. A zone that
// does not read is refused when it is asked for.
func OpenZones(version string, archive []byte) (*Zones, error) {
	read, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "tzdb", Value: job.Shorten(version), Bound: "a zoneinfo.zip",
			Message: "the time zone database cannot be read: " + err.Error(), Fix: "give the zoneinfo.zip of a Go release, or a ZIP of files made by zic"}
	}
	z := &Zones{version: version, files: make(map[string]*zip.File, len(read.File))}
	for _, file := range read.File {
		if !file.FileInfo().IsDir() && file.Name != "Factory" {
			z.files[file.Name] = file
		}
	}
	return z, nil
}

// Version names the database; see TZDBVersion.
func (z *Zones) Version() string { return z.orEmbedded().version }

// Compile is the package's Compile with the zones of this database.
func (z *Zones) Compile(s job.Schedule, anchor time.Time) (*Plan, error) {
	return z.CompileUnder(s, anchor, nil)
}

func (z *Zones) orEmbedded() *Zones {
	if z == nil {
		return embedded()
	}
	return z
}

var embedded = sync.OnceValue(func() *Zones {
	z, err := OpenZones(TZDBVersion(), tzdbZip)
	if err != nil {
		return &Zones{version: TZDBVersion()}
	}
	return z
})

// tzdbFiles indexes the embedded database by zone name.
func tzdbFiles() map[string]*zip.File { return embedded().files }

// loadLocation reads one zone from the database. The name must be spelt as
// there: no path, no other case, no offset, no name of Go's own.
func (z *Zones) loadLocation(name string) (*time.Location, error) {
	file, known := z.files[name]
	if !known {
		return nil, refuseZone(name)
	}
	if name == job.DefaultZone {
		return time.UTC, nil
	}
	reader, err := file.Open()
	if err != nil {
		return nil, brokenZone(name, err)
	}
	defer reader.Close()
	data, err := io.ReadAll(reader)
	if err != nil {
		return nil, brokenZone(name, err)
	}
	loc, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, brokenZone(name, err)
	}
	return loc, nil
}

func brokenZone(name string, err error) error {
	return &job.Error{Code: job.CodeInternal, Field: "zone", Value: name, Message: "the time zone database cannot be read: " + err.Error()}
}

// refuseZone says why name is no zone and names the nearest one.
func refuseZone(name string) error {
	const bound = "a name of the IANA database, such as Europe/Berlin or UTC"
	err := withCode(job.CodeZoneUnknown, refuse("zone", name, bound, "%s is not a time zone", quote(name)))
	switch name {
	case "":
		err.Message = "the time zone is empty"
		return withFix(err, "write UTC if UTC is meant")
	case "Z":
		return withFix(err, "write UTC")
	case "Local":
		return withFix(err, "name the zone itself: the machine's own zone differs from machine to machine")
	}
	if isOffset(name) {
		return withFix(err, "name the place, such as Europe/Berlin; a clock that never changes is Etc/GMT-2 for two hours ahead of UTC, with the sign reversed")
	}
	if near := nearestZone(name); near != "" && near != name {
		return withFix(err, "did you mean "+near+"?")
	}
	if isAbbreviation(name) {
		return withFix(err, "an abbreviation means one thing here and another there: name the place, such as America/Los_Angeles")
	}
	return err
}

// isOffset tells whether a name is a distance from UTC, such as UTC+2 or +05:30.
func isOffset(name string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.ToUpper(name), "UTC"), "GMT")
	if rest == "" || rest[0] != '+' && rest[0] != '-' {
		return false
	}
	return digits(strings.ReplaceAll(rest[1:], ":", ""))
}

// isAbbreviation tells whether a name is a few capitals, such as PST.
func isAbbreviation(name string) bool {
	for i := range len(name) {
		if name[i] < 'A' || name[i] > 'Z' {
			return false
		}
	}
	return len(name) > 1 && len(name) < 6
}

// nearestZone returns the zone whose name differs from name in case, spaces and
// separators alone or in two letters at most, "" if there is none or name is
// too long to be one.
func nearestZone(name string) string {
	const longest = 40
	if len(name) > longest {
		return ""
	}
	wanted, best, bestCost := plainName(name), "", 3
	for _, known := range plainZones() {
		if d := len(known.plain) - len(wanted); d > 2 || d < -2 {
			continue
		}
		if cost := distance(wanted, known.plain); cost < bestCost {
			best, bestCost = known.name, cost
		}
	}
	if bestCost*4 > len(wanted) {
		return ""
	}
	return best
}

// plainZones lists all zones in order, each with its name as plainName has it.
var plainZones = sync.OnceValue(func() []plainZone {
	var list []plainZone
	for _, name := range slices.Sorted(maps.Keys(tzdbFiles())) {
		list = append(list, plainZone{name: name, plain: plainName(name)})
	}
	return list
})

type plainZone struct{ name, plain string }

func plainName(name string) string { return strings.ToLower(separators.Replace(name)) }

var separators = strings.NewReplacer(" ", "", "_", "", "-", "")

// distance counts the letters to insert, delete or replace to turn a into b; it
// gives up and returns far as soon as that is more than two.
func distance(a, b string) int {
	const far = 3
	var row [64]int
	if len(b) >= len(row) {
		return far
	}
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least >= far {
			return far
		}
	}
	return min(row[len(b)], far)
}
