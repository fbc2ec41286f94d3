package formrow

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// isoTime is the form of a time in a column whose default shows none.
const isoTime = "2006-01-02T15:04:05.000Z"

// textTimes are the forms of a time as text: those of SQLite's functions and ISO 8601.
var textTimes = []string{
	"2006-01-02 15:04:05", isoTime, "2006-01-02T15:04:05Z", "2006-01-02 15:04:05.000", "2006-01-02T15:04:05.000",
	"2006-01-02T15:04:05", "2006-01-02T15:04Z", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02T15:04:05+00:00",
	"2006-01-02T15:04:05.000+00:00", "2006-01-02", "20060102150405", "20060102", "2006-01",
}

// time returns a time in the form of the column's default, which SQLite evaluates. If the default is not the present time, the column keeps
// it.
func (c *column) time(ctx context.Context, tx *sql.Tx, at time.Time) (value any, filled bool) {
	if c.standard == "" {
		if c.affinity == affinityInteger || c.affinity == affinityReal {
			return at.UnixMilli(), true
		}
		return at.UTC().Format(isoTime), true
	}
	var now float64
	var shown any
	const ask = `SELECT (julianday('now') - 2440587.5) * 86400000, (%s)`
	if tx.QueryRowContext(ctx, fmt.Sprintf(ask, c.standard)).Scan(&now, &shown) != nil {
		return nil, false // the insert reports the error
	}
	return likewise(shown, time.UnixMilli(int64(math.Round(now))).UTC(), at.UTC())
}

// likewise formats at in the form in which shown has now.
func likewise(shown any, now, at time.Time) (value any, ok bool) {
	text := ""
	switch v := shown.(type) {
	case int64:
		return likeNumber(float64(v), true, now, at)
	case float64:
		return likeNumber(v, false, now, at)
	case string:
		text = v
	case time.Time: // the driver parses values of such types
		text = v.Format("2006-01-02 15:04:05")
	case []byte:
		text = string(v)
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if value, ok := likeNumber(n, !strings.Contains(text, "."), now, at); ok {
			return decimal(value), true
		}
	}
	for _, layout := range textTimes {
		read, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if layout == "2006-01-02" || layout == "20060102" || layout == "2006-01" {
			return at.Format(layout), now.Format(layout) == text
		}
		const zone, most = 15 * time.Minute, 14 * time.Hour // time zones differ by quarters of an hour
		behind := read.Sub(now).Round(zone)
		const slack = time.Minute + 2*time.Second // of a form without seconds
		if behind.Abs() <= most && (read.Sub(now)-behind).Abs() <= slack {
			return at.Add(behind).Format(layout), true
		}
	}
	return nil, false
}

// likeNumber supports seconds, milliseconds, microseconds and the days of SQLite's julianday.
func likeNumber(shown float64, whole bool, now, at time.Time) (value any, ok bool) {
	const slack = 2000 // milliseconds
	for _, unit := range []float64{1000, 1, 0.001} {
		if math.Abs(shown*unit-float64(now.UnixMilli())) > slack {
			continue
		}
		if whole {
			return int64(math.Floor(float64(at.UnixMilli()) / unit)), true
		}
		return float64(at.UnixMilli()) / unit, true
	}
	const day, epoch = 86_400_000, 2440587.5
	if math.Abs((shown-epoch)*day-float64(now.UnixMilli())) <= slack {
		return float64(at.UnixMilli())/day + epoch, true
	}
	return nil, false
}

// decimal writes a number without an exponent.
func decimal(n any) string {
	if f, ok := n.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(n)
}
