package service

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file shows a person which rows they would lose, before they approve it.

// lossView shows the losses by the migrations of a proposal.
type lossView struct {
	Restore bool // the loss is by a restore, not by migrations
	Losses  []lossRow
	More    int      // that are not shown
	Words   string   // the loss in a few words: "2 rows of people"; "" for nothing
	Skipped string   // the reason why the migrations were not rehearsed; "" when they were
	Tables  []string // that may still lose rows
	Counts  []toolapi.RehearsedTable
	Took    string // by the migrations, on a copy; "" when none ran
	Locked  string // how long they held its write lock; "" if it is not known
	Warns   []string
}

// lossRow is one loss, with misleading characters escaped.
type lossRow struct {
	What, Statement, Place, Cause string
	Allowed                       bool // by a comment
}

// losses makes the view of a proposal's losses; nil for a proposal without the information.
func (t tx) losses(proposal string, arguments map[string]any) (*lossView, error) {
	a, err := t.approvalOf(proposal, nil)
	if err != nil || a.Migrated.Rehearsal == nil {
		return nil, err
	}
	if listed, ok := arguments["allow_data_loss"].([]any); ok {
		for _, name := range listed {
			a.Allowed = append(a.Allowed, fmt.Sprint(name))
		}
	}
	return viewLosses(a), nil
}

func viewLosses(a approval) *lossView {
	r := a.Migrated.Rehearsal
	v := &lossView{}
	for _, c := range r.Tables {
		c.Table = exactText(c.Table)
		v.Counts = append(v.Counts, c)
	}
	for _, w := range r.Warnings {
		v.Warns = append(v.Warns, exactText(w))
	}
	for i, l := range a.Migrated.DataLoss {
		if i == maxNames {
			v.More = len(a.Migrated.DataLoss) - i
			break
		}
		place := ""
		if l.File != "" { // by a migration
			place = exactText(fmt.Sprintf("%s:%d", l.File, l.Line))
		}
		v.Losses = append(v.Losses, lossRow{
			What:      exactText(l.Of().String()),
			Statement: shownSQL(l.Statement), Place: place, Cause: l.Cause, Allowed: l.Allowed,
		})
	}
	v.Words = lostInWords(toolapi.SumLosses(a.Migrated.DataLoss))
	if r.State == toolapi.RehearsalSkipped {
		v.Skipped = exactText(r.Reason)
		for _, table := range a.Allowed {
			v.Tables = append(v.Tables, exactText(table))
		}
		if len(v.Tables) > 0 {
			v.Words = "any rows of " + strings.Join(v.Tables, ", ")
		}
	}
	var ms float64
	for _, f := range r.Files {
		ms += f.Milliseconds
	}
	if len(r.Files) > 0 {
		v.Took = fmt.Sprintf("%.0f ms", math.Ceil(ms))
	}
	if r.Locked > 0 {
		v.Locked = fmt.Sprintf("%.0f ms", math.Ceil(r.Locked))
	}
	return v
}

// shownSQL returns a statement as written, quoted if it has invisible characters.
func shownSQL(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// listedAbove replaces the sum of losses if it is too long.
const listedAbove = "the losses above"

// Sum is the loss in words, above the list; "" if the list is enough.
func (v *lossView) Sum() string {
	if v.Words == listedAbove {
		return ""
	}
	return v.Words
}

// lostInWords returns the loss in a few words: "2 rows of people and 1 value of people.email", or "the values of 2 rows of people".
func lostInWords(sums []toolapi.LossOf) string {
	const shown = 2
	parts := make([]string, 0, shown)
	for _, s := range sums {
		if len(parts) == shown {
			return listedAbove
		}
		word, of := "row", s.Table
		if s.Column != "" {
			word, of = "value", s.Table+"."+s.Column
		}
		if s.Rows != 1 {
			word += "s"
		}
		part := fmt.Sprintf("%d %s of %s", s.Rows, word, exactText(shortName(of)))
		if s.Back {
			part = "the values of " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " and ")
}

// losesUnseen reports whether a proposal removes rows and its approval form lacks the person's acknowledgement.
func (v *consoleRequest) losesUnseen(p proposalRow) (bool, error) {
	if v.x.r.PostForm.Get("lose") == "yes" {
		return false, nil
	}
	var arguments map[string]any
	if err := json.Unmarshal([]byte(p.arguments), &arguments); err != nil {
		return false, err
	}
	var seen *lossView
	err := v.service.db.read(v.x.r.Context(), func(t tx) (err error) {
		seen, err = t.losses(p.id, arguments)
		return err
	})
	return seen != nil && seen.Words != "", err
}
