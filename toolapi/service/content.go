package service

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/pages-toolchain/pages/toolapi"
)

// This file serves the content of a workspace: pieces as a list and as a week, variants for approval, the brand profile.

const (
	daysOfWeek = 7
	lastYear   = 9999 // of dates with four digits
)

const pieceColumns = "id, title, format, status, scheduled_for, published_at, failure_reason, variants, updated_at"

// storedPiece is a content piece with its position in a list and in a week.
type storedPiece struct {
	toolapi.Piece
	updated   int64
	scheduled sql.NullInt64
}

func scanPiece(rows *sql.Rows, p *storedPiece) error {
	var published sql.NullInt64
	var reason sql.NullString
	var variants []byte
	err := rows.Scan(&p.ID, &p.Title, &p.Format, &p.Status, &p.scheduled, &published, &reason, &variants, &p.updated)
	if err != nil {
		return err
	}
	p.ScheduledFor, p.PublishedAt, p.FailureReason = formatOptionalTime(p.scheduled), formatOptionalTime(published), optionalText(reason)
	p.Variants = []toolapi.Variant{}
	return json.Unmarshal(variants, &p.Variants)
}

// contentStatus is content.status (platform document, section 4.2). A page is a range of an index, and the total is
// stored, so that neither becomes slower with the number of pieces.
func (c *call) contentStatus(args toolapi.ContentStatusArgs) (toolapi.ContentStatus, error) {
	page := toolapi.ContentStatus{Counts: map[string]int{}, Pieces: []toolapi.Piece{}}
	limit := cmp.Or(int(args.Limit), defaultPageSize)
	chosen := string(args.Status) + "\x00" + string(args.Format) + "\x00"
	where, filters := "workspace_id = ?", []any{c.in.id}
	if args.Status != "" {
		where, filters = where+" AND status = ?", append(filters, args.Status)
	}
	if args.Format != "" {
		where, filters = where+" AND format = ?", append(filters, args.Format)
	}
	if _, err := c.queryOne("SELECT coalesce(sum(n), 0) FROM piece_counts WHERE "+where, filters, &page.Total); err != nil {
		return page, err
	}
	if args.Cursor != "" {
		at, err := c.decodeCursor(string(args.Cursor), chosen)
		if err != nil {
			return page, err
		}
		where, filters = where+" AND (updated_at, id) < (?, ?)", append(filters, at.Updated, at.ID)
	}
	pieces, err := list(c.tx, scanPiece, "SELECT "+pieceColumns+" FROM pieces WHERE "+where+" ORDER BY updated_at DESC, id DESC LIMIT ?",
		append(filters, limit+1)...)
	if err != nil {
		return page, err
	}
	if len(pieces) > limit {
		pieces = pieces[:limit]
		page.Truncated = true
		page.NextCursor, err = c.encodeCursor(pieces[limit-1].updated, pieces[limit-1].ID, chosen)
	}
	for _, p := range pieces {
		page.Pieces = append(page.Pieces, p.Piece)
		page.Counts[string(p.Status)]++
	}
	return page, err
}

// scheduleRead is schedule.read (platform document, section 4.3).
func (c *call) scheduleRead(args toolapi.ScheduleReadArgs) (toolapi.Schedule, error) {
	zone, err := time.LoadLocation(c.in.zone)
	if err != nil {
		return toolapi.Schedule{}, fmt.Errorf("time zone of workspace %s: %w", c.in.slug, err)
	}
	within := c.now.In(zone)
	if args.Week != "" {
		if within, err = time.Parse(time.DateOnly, string(args.Week)); err != nil {
			return toolapi.Schedule{}, invalid(toolapi.Issue{Path: "week", Message: "is not a date of the calendar"})
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
	grid.Rows, err = list(c.tx, func(rows *sql.Rows, r *toolapi.Row) error {
		for _, day := range grid.Days {
			r.Cells = append(r.Cells, toolapi.Cell{Day: day, Pieces: []toolapi.Piece{}})
		}
		return rows.Scan(&r.Format, &r.Planned)
	}, "SELECT format, per_week FROM cadence WHERE workspace_id = ? ORDER BY position", c.in.id)
	if err != nil {
		return grid, err
	}
	pieces, err := list(c.tx, scanPiece, "SELECT "+pieceColumns+
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

// weekOf returns the starts of the seven days of the week that a date is in, and of the next week. Days are counted by the
// calendar: not all have 24 hours.
func weekOf(date time.Time, zone *time.Location) (starts [daysOfWeek + 1]time.Time) {
	since := (int(date.Weekday()) + daysOfWeek - int(time.Monday)) % daysOfWeek
	year, month, day := date.Date()
	for i := range starts {
		day := day - since + i
		t := time.Date(year, month, day, 0, 0, 0, 0, zone)
		// If clocks go forward at midnight, the day starts later, and time.Date may return the day before.
		if t.Hour() != 0 || t.Minute() != 0 {
			start, end := t.ZoneBounds()
			if t.Day() != time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Day() {
				start = end
			}
			t = start
		}
		starts[i] = t
	}
	return starts
}

// setPrimaryVariant is approvals.set_primary_variant (platform document, section 4.8). It changes the primary
// variant, but no status.
func (c *call) setPrimaryVariant(args toolapi.SetPrimaryVariantArgs) (none toolapi.SetPrimaryVariant, err error) {
	var id, status string
	var parent, parentStatus sql.NullString
	found, err := c.queryOne("SELECT a.id, a.status, a.parent_id, p.status FROM assets a LEFT JOIN assets p ON p.id = "+
		"a.parent_id WHERE a.id = ? AND a.workspace_id = ?",
		[]any{string(args.ChildAssetID), c.in.id}, &id, &status, &parent, &parentStatus)
	switch {
	case err != nil:
		return none, err
	case !found:
		return none, refuseAt(toolapi.CodeAssetUnknown, "There is no such asset in this workspace.", "childAssetId", "")
	case !parent.Valid:
		return none, refuseAt(toolapi.CodeAssetIsNoVariant, "This asset is not a variant of another.", "childAssetId",
			"pass the id of one of its variants")
	case parentStatus.String != "draft" && parentStatus.String != "in_review":
		return none, refuse(toolapi.CodeAssetAlreadyJudged, "A person has already decided on this asset.")
	}
	err = c.exec("UPDATE assets SET is_primary = (id = ?) WHERE parent_id = ?", id, parent.String)
	return toolapi.SetPrimaryVariant{AssetID: id, IsPrimary: true, Status: status}, err
}

// brandProfileStatus is brand_profile.status (platform document, section 4.9).
func (c *call) brandProfileStatus(toolapi.NoArgs) (p toolapi.BrandProfile, err error) {
	var email, phone string
	p.ProfileExists, err = c.queryOne("SELECT display_name, status, booking_link, booking_email, booking_phone FROM "+
		"brand_profiles WHERE workspace_id = ?",
		[]any{c.in.id}, &p.DisplayName, &p.Status, &p.BookingLink, &email, &phone)
	if err != nil {
		return p, err
	}
	if !p.ProfileExists {
		p.Status = "missing"
	}
	p.BookingContactEmail, p.BookingContactPhone = email != "", phone != ""
	filled, err := listColumn[string](c.tx, "SELECT key FROM brand_sections WHERE workspace_id = ? AND trim(text) <> ''", c.in.id)
	for _, key := range brandSections {
		s := toolapi.Section{Key: key, Filled: slices.Contains(filled, key)}
		p.Sections = append(p.Sections, s)
		if s.Filled {
			p.SectionsFilled++
		}
	}
	p.SectionsTotal = len(brandSections)
	return p, err
}
