package service

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"slices"

	"github.com/pages-toolchain/pages/toolapi"
)

// look is a saved look and the views of what was made in it.
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
		l.views, err = list(
			c.tx, func(rows *sql.Rows, n *float64) error { return rows.Scan(n) },
			"SELECT views FROM look_results WHERE look_id = ? ORDER BY views", l.ID,
		)
		if err != nil {
			return result, err
		}
		l.Figures = performanceText(l.views)
		result.Saved = append(result.Saved, l.Look)
	}
	for _, better := range surestLooks(looks) {
		result.Recommendations = append(result.Recommendations, toolapi.Recommendation{
			TemplateID: better.template, Name: better.Name, Kind: better.kind, Why: better.why,
		})
	}
	return result, nil
}

// performanceText is the performance of a look in words. Views are sorted.
func performanceText(views []float64) string {
	if len(views) == 0 {
		return "nothing made in it yet"
	}
	return fmt.Sprintf("%d made, median %.0f views", len(views), median(views))
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// verdict is a look that did better than the others by more than chance.
type verdict struct {
	look
	z   float64
	why string
}

// surestLooks returns at most two looks, the surest first; none when the evidence is noise.
func surestLooks(looks []look) []verdict {
	var judged []verdict
	enough := slices.DeleteFunc(slices.Clone(looks), func(l look) bool { return len(l.views) < lookResults })
	// One test for each look: the more are tried, the more would pass by chance.
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
			judged = append(judged, verdict{
				l, z,
				fmt.Sprintf(
					"%d made in it reached a median of %.0f views, against %.0f of the %d others.", len(l.views),
					median(l.views), median(others), len(others),
				),
			})
		}
	}
	slices.SortStableFunc(judged, func(a, b verdict) int { return cmp.Compare(b.z, a.z) })
	return judged[:min(len(judged), maxLooks)]
}

// mannWhitney is the standardised U statistic of a against b, corrected for ties and
// for continuity: how surely the values of a are the larger ones.
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
