package service

import (
	"database/sql"
	"encoding/json"

	"github.com/pages-toolchain/pages/toolapi"
)

const pieceColumns = "id, title, format, status, scheduled_for, published_at, failure_reason, variants, updated_at"

// storedPiece is a content piece with what its place in a list or a week is found by.
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

// contentStatus is content.status (platform document, section 4.2). A page is a
// range of an index, and the total is kept, so that neither grows with the pieces.
func (c *call) contentStatus(args toolapi.ContentStatusArgs) (toolapi.ContentStatus, error) {
	page := toolapi.ContentStatus{Counts: map[string]int{}, Pieces: []toolapi.Piece{}}
	limit := int(args.Limit)
	if limit == 0 {
		limit = defaultPageSize
	}
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
		at, err := c.unseal(string(args.Cursor), chosen)
		if err != nil {
			return page, err
		}
		where, filters = where+" AND (updated_at, id) < (?, ?)", append(filters, at.Updated, at.ID)
	}
	pieces, err := list(
		c.tx, scanPiece,
		"SELECT "+pieceColumns+" FROM pieces WHERE "+where+" ORDER BY updated_at DESC, id DESC LIMIT ?",
		append(filters, limit+1)...,
	)
	if err != nil {
		return page, err
	}
	if len(pieces) > limit {
		pieces = pieces[:limit]
		page.Truncated = true
		page.NextCursor, err = c.seal(pieces[limit-1].updated, pieces[limit-1].ID, chosen)
	}
	for _, p := range pieces {
		page.Pieces = append(page.Pieces, p.Piece)
		page.Counts[string(p.Status)]++
	}
	return page, err
}
