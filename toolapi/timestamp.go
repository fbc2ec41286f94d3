package toolapi

import (
	"regexp"
	"time"
)

// This file reads timestamps of arguments, and holds when a publish may be scheduled for (platform document, section 4.5).

// timestamp is ISO 8601 with an offset; seconds and their fraction may be left out.
var timestamp = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$`)

// Moment is the one that a timestamp names; false for text that is none of the calendar and the clock.
func (s Timestamp) Moment() (time.Time, bool) {
	part := timestamp.FindStringSubmatch(string(s))
	if part == nil {
		return time.Time{}, false
	}
	if part[2] == "" {
		part[2] = ":00"
	}
	if n := len(part[3]); n == len("+0100") {
		part[3] = part[3][:3] + ":" + part[3][3:]
	}
	t, err := time.Parse(time.RFC3339Nano, part[1]+part[2]+part[3])
	return t, err == nil
}

// ScheduleWindow is from when to when a publish may be scheduled, both included: five minutes to one year ahead.
func ScheduleWindow(now time.Time) (soonest, latest time.Time) {
	return now.Add(5 * time.Minute), now.AddDate(1, 0, 0)
}
