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

// tzdbFiles indexes the embedded database by zone name.
var tzdbFiles = sync.OnceValue(func() map[string]*zip.File {
	archive, err := zip.NewReader(bytes.NewReader(tzdbZip), int64(len(tzdbZip)))
	if err != nil {
		return nil
	}
	files := make(map[string]*zip.File, len(archive.File))
	for _, file := range archive.File {
		if !file.FileInfo().IsDir() && file.Name != "Factory" {
			files[file.Name] = file
		}
	}
	return files
})

// loadLocation reads one zone from the embedded database. The name must be
// spelt as there: no path, no other case, no offset, no name of Go's own.
func loadLocation(name string) (*time.Location, error) {
	file, known := tzdbFiles()[name]
	if !known {
		return nil, refuseZone(name)
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
	if name == "UTC" {
		return time.UTC, nil
	}
	loc, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, brokenZone(name, err)
	}
	return loc, nil
}

func brokenZone(name string, err error) error {
	return &job.Error{Code: job.CodeInternal, Field: "zone", Value: name, Message: "the embedded time zone database cannot be read: " + err.Error()}
}

// refuseZone says why name is no zone and names the nearest one.
func refuseZone(name string) error {
	const bound = "a name of the IANA database, such as Europe/Berlin or UTC"
	err := withCode(job.CodeZoneUnknown, refuse("zone", name, bound, "%s is not a time zone", quote(name)))
	switch name {
	case "":
		err.Message = "the time zone is empty"
		return withFix(err, "write UTC if UTC is meant")
	case "Local":
		return withFix(err, "name the zone itself: the machine's own zone differs from machine to machine")
	}
	if near := nearestZone(name); near != "" {
		return withFix(err, "did you mean "+near+"?")
	}
	return err
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
