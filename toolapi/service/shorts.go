package service

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file plans shorts: shapes to try, and successful looks.

// tile is a competitor's short.
type tile struct{ id, competitor, shape, kind, length string }

// tryShape is shorts.try_shape (platform document, section 4.7).
func (c *call) tryShape(args toolapi.TryShapeArgs) (none toolapi.TryShape, err error) {
	var t tile
	unknown := refuseAt(toolapi.CodeTileUnknown, "There is no such tile on the plan.", "tile_id",
		"pass the id exactly as the plan listed it")
	if err := c.queryOr(unknown, "SELECT id, competitor, shape, kind, length FROM tiles WHERE id = ? AND workspace_id = ?",
		[]any{string(args.TileID), c.in.id}, &t.id, &t.competitor, &t.shape, &t.kind, &t.length); err != nil {
		return none, err
	}
	switch {
	case slices.Contains(args.AlreadyTried, t.id):
		return none, refuseAt(toolapi.CodeTileTried, "This shape was already tried on this plan.", "tile_id", "try another tile")
	case len(args.AlreadyTried) >= toolapi.MaxTried:
		return none, refuseAt(toolapi.CodeTilesExhausted, "No more shapes can be tried on one plan.", "already_tried",
			"create the week from the tried ones")
	}
	number := planSize + len(args.AlreadyTried) + 1
	if args.BoardID != "" {
		if number, err = c.addCard(string(args.BoardID), t); err != nil {
			return none, err
		}
	}
	card := toolapi.Card{
		Number: number, Kind: t.kind, Source: t.competitor, Length: t.length,
		Day: time.Weekday((int(time.Monday) + number - 1) % daysOfWeek).String(),
	}
	// The shape is filled with the workspace's own words.
	_, err = c.queryOne(`SELECT title, line FROM own_lines WHERE workspace_id = ?1 ORDER BY position
		LIMIT 1 OFFSET (?2 - 1) % max(1, (SELECT count(*) FROM own_lines WHERE workspace_id = ?1))`,
		[]any{c.in.id, number}, &card.Title, &card.Line)
	return toolapi.TryShape{
		Shape: t.shape, Card: card, WeekSize: number, AlreadyTried: append(slices.Clone([]string(args.AlreadyTried)), t.id),
		Shelf: "extra_shapes", // the plan's shelf of borrowed shapes
	}, err
}

// addCard adds a tile's shape to an existing week, and returns its number.
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
		return 0, refuseAt(toolapi.CodeWeekUnknown, "There is no such week in this workspace.", "board_id",
			"omit board_id to try on next week's plan")
	case tried:
		return 0, refuseAt(toolapi.CodeTileTried, "This week already has a short in this shape.", "tile_id", "try another tile")
	}
	return number, c.exec("INSERT INTO week_cards (week_id, number, tile_id) VALUES (lower(?), ?, ?)", week, number, t.id)
}

// look is a saved look and the views of its pieces.
type look struct {
	toolapi.Look
	template, kind string
	views          []float64
}

// recommendStyle is shorts.recommend_style (platform document, section 4.10).
func (c *call) recommendStyle(toolapi.NoArgs) (toolapi.RecommendStyle, error) {
	result := toolapi.RecommendStyle{Recommendations: []toolapi.Recommendation{}, Saved: []toolapi.Look{}, Href: "/shorts/looks"}
	looks, err := list(c.tx, func(rows *sql.Rows, l *look) error {
		return rows.Scan(&l.ID, &l.template, &l.Name, &l.kind, &l.Reads, &l.Sample)
	}, "SELECT id, template_id, name, kind, reads, sample FROM looks WHERE workspace_id = ? ORDER BY position, id", c.in.id)
	if err != nil {
		return result, err
	}
	for i := range looks {
		l := &looks[i]
		l.views, err = listColumn[float64](c.tx, "SELECT views FROM look_results WHERE look_id = ? ORDER BY views", l.ID)
		if err != nil {
			return result, err
		}
		l.Figures = "no shorts or videos in it yet"
		if len(l.views) > 0 {
			l.Figures = fmt.Sprintf("%d made, median %.0f views", len(l.views), median(l.views))
		}
		result.Saved = append(result.Saved, l.Look)
	}
	for _, better := range significantLooks(looks) {
		result.Recommendations = append(result.Recommendations, toolapi.Recommendation{
			TemplateID: better.template, Name: better.Name, Kind: better.kind, Why: better.why,
		})
	}
	return result, nil
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// verdict is a look that did significantly better than the others.
type verdict struct {
	look
	z   float64
	why string
}

// significantLooks returns at most maxLooks looks, the surest first; none when the evidence is noise.
func significantLooks(looks []look) []verdict {
	var judged []verdict
	enough := slices.DeleteFunc(slices.Clone(looks), func(l look) bool { return len(l.views) < lookResults })
	// Each look has its own test: the more tests, the more would pass by chance.
	threshold := math.Sqrt2 * math.Erfinv(1-2*lookAlpha/float64(max(1, len(enough))))
	for _, l := range enough {
		var others []float64
		for _, o := range looks {
			if o.ID != l.ID {
				others = append(others, o.views...)
			}
		}
		if len(others) < lookResults {
			continue
		}
		if z := mannWhitney(l.views, others); z > threshold {
			slices.Sort(others)
			why := fmt.Sprintf("%d made in it reached a median of %.0f views, compared with %.0f for the %d others.",
				len(l.views), median(l.views), median(others), len(others))
			judged = append(judged, verdict{l, z, why})
		}
	}
	slices.SortStableFunc(judged, func(a, b verdict) int { return cmp.Compare(b.z, a.z) })
	return judged[:min(len(judged), maxLooks)]
}

// mannWhitney returns the standardised U statistic of a against b, corrected for ties and for continuity: how surely the
// values of a are the larger ones.
func mannWhitney(a, b []float64) float64 {
	type value struct {
		views float64
		mine  bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, v := range a {
		all = append(all, value{v, true})
	}
	for _, v := range b {
		all = append(all, value{v, false})
	}
	slices.SortFunc(all, func(x, y value) int { return cmp.Compare(x.views, y.views) })
	var ranks, ties float64 // the sum of the ranks of a
	for i := 0; i < len(all); {
		j, mine := i, 0.0
		for ; j < len(all) && all[j].views == all[i].views; j++ {
			if all[j].mine {
				mine++
			}
		}
		t := float64(j - i)
		ties += t*t*t - t
		ranks += mine * float64(i+1+j) / 2 // equal values share the middle of their ranks
		i = j
	}
	n, m := float64(len(a)), float64(len(b))
	u, total := ranks-n*(n+1)/2, n+m
	spread := math.Sqrt(n * m / 12 * (total + 1 - ties/(total*(total-1))))
	if spread == 0 {
		return 0
	}
	return (u - n*m/2 - 0.5) / spread
}
