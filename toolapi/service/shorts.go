package service

import (
	"slices"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// shelf is where the plan shows shorts in a borrowed shape.
const shelf = "extra_shapes"

// tile is a competitor's short.
type tile struct{ id, competitor, shape, kind, length string }

// tryShape is shorts.try_shape (platform document, section 4.7).
func (c *call) tryShape(args toolapi.TryShapeArgs) (toolapi.TryShape, error) {
	var t tile
	found, err := c.queryOne(
		"SELECT id, competitor, shape, kind, length FROM tiles WHERE id = ? AND workspace_id = ?",
		[]any{string(args.TileID), c.in.id}, &t.id, &t.competitor, &t.shape, &t.kind, &t.length,
	)
	switch {
	case err != nil:
		return toolapi.TryShape{}, err
	case !found:
		return toolapi.TryShape{}, refuseAt(
			toolapi.CodeTileUnknown, "There is no such tile on the plan.", "tile_id",
			"give the id exactly as the plan listed it",
		)
	case slices.Contains(args.AlreadyTried, t.id):
		return toolapi.TryShape{}, refuseAt(
			toolapi.CodeTileTried, "This shape was tried on this plan already.", "tile_id", "try another tile",
		)
	case len(args.AlreadyTried) >= toolapi.MaxTried:
		return toolapi.TryShape{}, refuseAt(
			toolapi.CodeTilesExhausted, "No more shapes can be tried on one plan.", "already_tried",
			"make the week from those that were tried",
		)
	}
	number := planSize + len(args.AlreadyTried) + 1
	if args.BoardID != "" {
		if number, err = c.addCard(string(args.BoardID), t); err != nil {
			return toolapi.TryShape{}, err
		}
	}
	card, err := c.card(t, number)
	return toolapi.TryShape{
		Shape: t.shape, Card: card, WeekSize: number,
		AlreadyTried: append(slices.Clone([]string(args.AlreadyTried)), t.id), Shelf: shelf,
	}, err
}

// addCard adds a tile's shape to a week that is made, and returns its number.
func (c *call) addCard(week string, t tile) (int, error) {
	var tried bool
	var number int
	found, err := c.queryOne(`SELECT EXISTS (SELECT 1 FROM week_cards WHERE week_id = weeks.id AND tile_id = ?),
		(SELECT coalesce(max(number), 0) + 1 FROM week_cards WHERE week_id = weeks.id)
		FROM weeks WHERE id = lower(?) AND workspace_id = ?`, []any{t.id, week, c.in.id}, &tried, &number)
	switch {
	case err != nil:
		return 0, err
	case !found:
		return 0, refuseAt(
			toolapi.CodeWeekUnknown, "There is no such week in this workspace.", "board_id",
			"omit board_id to try on next week's plan",
		)
	case tried:
		return 0, refuseAt(toolapi.CodeTileTried, "This week has a short in this shape already.", "tile_id", "try another tile")
	}
	return number, c.exec("INSERT INTO week_cards (week_id, number, tile_id) VALUES (lower(?), ?, ?)", week, number, t.id)
}

// card fills a shape with the workspace's own words.
func (c *call) card(t tile, number int) (toolapi.Card, error) {
	card := toolapi.Card{
		Number: number, Kind: t.kind, Source: t.competitor, Length: t.length,
		Day: time.Weekday((int(time.Monday) + number - 1) % daysOfWeek).String(),
	}
	_, err := c.queryOne(`SELECT title, line FROM own_lines WHERE workspace_id = ?1 ORDER BY position
		LIMIT 1 OFFSET (?2 - 1) % max(1, (SELECT count(*) FROM own_lines WHERE workspace_id = ?1))`,
		[]any{c.in.id, number}, &card.Title, &card.Line)
	return card, err
}
