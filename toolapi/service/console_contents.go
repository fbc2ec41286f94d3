package service

import (
	"fmt"
	"slices"
	"strings"
)

// This file shows what a revision would change, to the person who approves it.

// contentsView is what a revision holds against what is live.
type contentsView struct {
	Revision, Live string
	First          bool // nothing is live
	Kept, LiveKept bool // whether the contents of either are
	Opened         some // paths that become public
	Rows           []contentsRow
}

// contentsRow is one thing about a revision: in words, and what has names.
type contentsRow struct {
	What, Says string
	some
}

// contents compares a revision of a site with what is live.
func (v *visit) contents(t tx, s siteRow, revision string) (*contentsView, error) {
	if s.id == "" || s.live.String == revision {
		return nil, nil //nolint:nilnil // nothing would change
	}
	shown := &contentsView{Revision: revision, Live: s.live.String, First: !s.live.Valid}
	now, err := t.bundleOf(s.id, revision)
	if err != nil || now == 0 {
		return shown, err
	}
	was, err := t.bundleOf(s.id, s.live.String)
	if err != nil {
		return nil, err
	}
	c, err := v.service.compareBundles(t, was, now)
	if err != nil {
		return nil, err
	}
	applied, err := t.appliedMigrations(s.id)
	if err != nil {
		return nil, err
	}
	shown.Kept, shown.LiveKept, shown.Opened = true, was != 0, c.opened
	shown.say("Files", c.filesInWords())
	if c.against {
		shown.access(c)
	} else {
		shown.list("Routes for everyone", "", c.public)
		shown.list("Routes for members only", "", c.members)
	}
	if c.worker != "" {
		shown.say("Worker", c.worker)
	}
	shown.list("Migrations", "These run before it goes live:", lackingIn(applied, c.migrations))
	shown.list("Not in it", "The site's database has these migrations, which the revision does not know:", lackingIn(c.migrations, applied))
	if len(c.made) > 0 {
		shown.say("Made on publishing", strings.Join(c.made, ", "))
	}
	if len(c.differ) > 0 {
		shown.say("Changed in the manifest", strings.Join(c.differ, ", "))
	}
	return shown, nil
}

func (v *contentsView) say(what, says string) {
	v.Rows = append(v.Rows, contentsRow{What: what, Says: says})
}

// list says nothing of an empty list.
func (v *contentsView) list(what, says string, names some) {
	if len(names.Names) > 0 {
		v.Rows = append(v.Rows, contentsRow{what, says, names})
	}
}

// access says who loses a path; what becomes public stands above all.
func (v *contentsView) access(c *comparison) {
	v.list("Becomes members only", "", c.closed)
	if c.opened.All()+c.closed.All() == 0 {
		v.say("Who may see what", "as now")
	}
}

// filesInWords counts the files of a comparison.
func (c *comparison) filesInWords() string {
	if !c.against {
		return c.added.inWords("in all")
	}
	var parts []string
	for _, kind := range []struct {
		tally
		word string
	}{{c.added, "added"}, {c.changed, "changed"}, {c.removed, "removed"}, {c.same, "unchanged"}} {
		if kind.n > 0 {
			parts = append(parts, kind.inWords(kind.word))
		}
	}
	return strings.Join(parts, ", ")
}

func (t tally) inWords(word string) string {
	return fmt.Sprintf("%d %s (%s)", t.n, word, formatSize(t.bytes))
}

// lackingIn are the names that a list lacks; both are sorted.
func lackingIn(has, names []string) (lacks some) {
	for _, name := range names {
		if _, ok := slices.BinarySearch(has, name); !ok {
			lacks.add(name)
		}
	}
	return lacks
}
