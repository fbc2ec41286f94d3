package service

import (
	"database/sql"
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/pages-toolchain/pages/toolapi"
)

const (
	daysOfWeek = 7
	lastYear   = 9999 // that a date of four digits has
)

// scheduleRead is schedule.read (platform document, section 4.3).
func (c *call) scheduleRead(args toolapi.ScheduleReadArgs) (toolapi.Schedule, error) {
	zone, err := time.LoadLocation(c.in.zone)
	if err != nil {
		return toolapi.Schedule{}, fmt.Errorf("time zone of workspace %s: %w", c.in.slug, err)
	}
	within := c.now.In(zone)
	if args.Week != "" {
		if within, err = time.Parse(time.DateOnly, string(args.Week)); err != nil {
			return toolapi.Schedule{}, invalid(toolapi.Issue{Path: "week", Message: "is no date of the calendar"})
		}
	}
	days := weekOf(within, zone)
	if days[0].Year() < 1 || days[daysOfWeek-1].Year() > lastYear {
		return toolapi.Schedule{}, invalid(toolapi.Issue{Path: "week", Message: "must be in the years 1 to 9999, with all its days"})
	}
	grid := toolapi.Schedule{TimeZone: c.in.zone, Week: days[0].Format(time.DateOnly), Unplanned: []toolapi.Piece{}}
	for _, day := range days[:daysOfWeek] {
		grid.Days = append(grid.Days, day.Format(time.DateOnly))
	}
	if grid.Rows, err = c.rows(grid.Days); err != nil {
		return grid, err
	}
	pieces, err := list(c.tx, scanPiece,
		"SELECT "+pieceColumns+
			" FROM pieces WHERE workspace_id = ? AND scheduled_for >= ? AND scheduled_for < ? ORDER BY scheduled_for, id",
		c.in.id, days[0].UnixMilli(), days[daysOfWeek].UnixMilli())
	for _, p := range pieces {
		day := slices.Index(grid.Days, time.UnixMilli(p.scheduled.Int64).In(zone).Format(time.DateOnly))
		row := slices.IndexFunc(grid.Rows, func(r toolapi.Row) bool { return r.Format == p.Format })
		if row < 0 || day < 0 {
			grid.Unplanned = append(grid.Unplanned, p.Piece)
			continue
		}
		cell := &grid.Rows[row].Cells[day]
		cell.Pieces = append(cell.Pieces, p.Piece)
	}
	return grid, err
}

// weekOf returns the starts of the seven days of the week that a date is in, and of the
// next week. Days are counted by the calendar: not all have 24 hours.
func weekOf(date time.Time, zone *time.Location) (starts [daysOfWeek + 1]time.Time) {
	since := (int(date.Weekday()) + daysOfWeek - int(time.Monday)) % daysOfWeek
	year, month, day := date.Date()
	for i := range starts {
		starts[i] = startOfDay(year, month, day-since+i, zone)
	}
	return starts
}

// startOfDay is the first moment of a day. Where the clocks go forward at midnight the
// day has no midnight: it starts when they do, and [time.Date] may answer with the day
// before.
func startOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if t.Hour() == 0 && t.Minute() == 0 {
		return t
	}
	since, until := t.ZoneBounds()
	if t.Day() == time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Day() {
		return since
	}
	return until
}

// rows are the formats that the cadence plans, with empty cells.
func (c *call) rows(days []string) ([]toolapi.Row, error) {
	return list(c.tx, func(rows *sql.Rows, r *toolapi.Row) error {
		for _, day := range days {
			r.Cells = append(r.Cells, toolapi.Cell{Day: day, Pieces: []toolapi.Piece{}})
		}
		return rows.Scan(&r.Format, &r.Planned)
	}, "SELECT format, per_week FROM cadence WHERE workspace_id = ? ORDER BY position", c.in.id)
}
