package service

import (
	"net/http"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file shows the restore points of a site, and proposes restores.

// pointView shows a restore point.
type pointView struct {
	toolapi.RestorePoint
	Made clockView
	Why  string
	Rows int64
}

// pointTable is a table of a restore point, of the present database, or of both.
type pointTable struct {
	Name      string
	Now, Then *int64 // rows; nil without such a table
	Alone     bool   // it can be chosen: both have it, or the current tables are unknown
}

// siteOf is the site of a page of the console.
func (v *consoleRequest) siteOf(id string) (siteRow, error) {
	return readTx(v.x.r.Context(), v.service.db, func(t tx) (s siteRow, err error) {
		return s, t.queryOr(notFound(), siteQuery+"s.id = ? AND s.workspace_id = ?", []any{id, v.in.id}, s.columns()...)
	})
}

func (v *consoleRequest) viewPoint(p toolapi.RestorePoint) pointView {
	shown := pointView{RestorePoint: p, Why: pointReason(p)}
	if made := v.timestamp(&p.At); made != nil {
		shown.Made = *made
	}
	for _, t := range p.Tables {
		shown.Rows += t.Rows
	}
	return shown
}

// pointsPage shows the restore points of a site, newest first.
func (v *consoleRequest) pointsPage(id string) error {
	s, err := v.siteOf(id)
	if err != nil {
		return err
	}
	list, err := callTool[toolapi.RestorePoints](v, "page.restore_points", map[string]any{"site_id": id})
	if err != nil {
		return err
	}
	data := struct {
		Site, Name, Hostname string
		Points               []pointView
		Rule                 string
		MaxPoints            int
		MaxBytes             int64
	}{Site: id, Name: s.name, Hostname: s.hostname, Rule: list.Rule, MaxPoints: list.MaxPoints, MaxBytes: list.MaxBytes}
	for _, p := range list.Points {
		data.Points = append(data.Points, v.viewPoint(p))
	}
	return v.render(http.StatusOK, "points", "Restore points", data)
}

// pointPage shows one restore point, and the tables that a person may restore.
func (v *consoleRequest) pointPage(id, point string) error {
	s, err := v.siteOf(id)
	if err != nil {
		return err
	}
	list, err := callTool[toolapi.RestorePoints](v, "page.restore_points", map[string]any{"site_id": id})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list.Points, func(p toolapi.RestorePoint) bool { return p.ID == point })
	if i < 0 {
		return refuseAt(toolapi.CodeRestorePointUnknown, "The site does not have this restore point, or no longer has it.", "point", "")
	}
	return v.render(http.StatusOK, "point", "Restore point "+point, struct {
		Site, Name, Hostname string
		Point                pointView
		Tables               []pointTable
		Counted              bool // the present rows are counted
	}{id, s.name, s.hostname, v.viewPoint(list.Points[i]), pointTables(list.Tables, list.Points[i].Tables), len(list.Tables) > 0})
}

// pointTables are the tables of the present database and the point, sorted by name.
func pointTables(now, then []toolapi.RestoreTable) (all []pointTable) {
	for _, t := range then {
		all = append(all, pointTable{Name: t.Table, Then: &t.Rows, Alone: len(now) == 0})
	}
	for _, t := range now {
		i := slices.IndexFunc(all, func(o pointTable) bool { return strings.EqualFold(o.Name, t.Table) })
		if i < 0 {
			all = append(all, pointTable{Name: t.Table, Now: &t.Rows})
			continue
		}
		all[i].Now, all[i].Alone = &t.Rows, true
	}
	slices.SortStableFunc(all, func(a, b pointTable) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// pointReason describes the occasion of a restore point.
func pointReason(p toolapi.RestorePoint) string {
	before := ""
	if p.Before != nil {
		before = *p.Before
	}
	switch {
	case p.Reason == "publish" && before == "":
		return "before a revision went live"
	case p.Reason == "publish":
		return "before revision " + before + " went live"
	case p.Reason == "restore":
		return "before " + before + " was restored"
	}
	return "while rows were written"
}

// proposeRestore proposes a restore, and shows the proposal.
func (v *consoleRequest) proposeRestore(id string) error {
	form := v.x.r.PostForm
	arguments := map[string]any{"site_id": id, "point": form.Get("point"), "leads": form.Get("leads"), "into": form.Get("into")}
	switch tables := form["tables"]; {
	case len(tables) > 0: // with the present code
		arguments["tables"] = tables
	case form.Get("code") == "live":
		arguments["revision"] = "live"
	}
	if _, err := callTool[toolapi.RestoreData](v, "page.restore_data", arguments); err != nil {
		return err
	}
	return v.redirect("/console/w/" + v.in.slug + "/proposals")
}
