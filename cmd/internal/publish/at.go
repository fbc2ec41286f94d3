package publish

import (
	"fmt"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/toolapi"
)

// This file reads the time of --at before anything is built or sent. The service judges it once more, by its own clock.

// CheckTime refuses a time that no publish can be scheduled for.
func CheckTime(text string, now time.Time) error {
	at, ok := toolapi.Timestamp(text).Moment()
	if !ok {
		return unreadableTime(text, now)
	}
	soonest, latest := toolapi.ScheduleWindow(now)
	is := ""
	switch {
	case at.Before(now):
		is = "in the past"
	case at.Before(soonest):
		is = "too soon"
	case at.After(latest):
		is = "too far ahead"
	default:
		return nil
	}
	f := failure.Usage(
		"--at is %q, which is %s: %s; a publish is scheduled from five minutes to one year ahead",
		text,
		at.Format(longTime),
		is,
	)
	f.Fix = fmt.Sprintf(
		"it is %s now by this machine's clock: give a time from %s to %s, or deploy without --at to publish at once",
		now.Format(
			time.RFC3339,
		),
		soonest.Truncate(time.Minute).Add(time.Minute).Format(time.RFC3339),
		latest.Truncate(time.Minute).Format(time.RFC3339),
	)
	return f
}

// unreadableTime is the error of a text that names no moment. Of one that lacks the offset alone it says what the time is here.
func unreadableTime(text string, now time.Time) error {
	f := failure.Usage(
		"--at is %q; it is a time with its offset, such as %s",
		text,
		now.AddDate(0, 0, 1).Truncate(time.Hour).Format(time.RFC3339),
	)
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			f.Fix = "by this machine's time zone that is --at " + at.Format(time.RFC3339)
		}
	}
	return f
}
