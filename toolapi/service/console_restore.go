package service

import (
	"net/http"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file shows the restore points of a site, and proposes to put one back.

// pointView shows a restore point.
type pointView struct {
	toolapi.RestorePoint
	Made clockView
	Why  string
	Rows int64
}

// pointsPage shows the restore points of a site, newest first.
func (v *consoleRequest) pointsPage(id string) error {
	s, err := readTx(v.x.r.Context(), v.service.db, func(t tx) (s siteRow, err error) {
		return s, t.queryOr(notFound(), siteQuery+"s.id = ? AND s.workspace_id = ?", []any{id, v.in.id}, s.columns()...)
	})
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
		shown := pointView{RestorePoint: p, Why: pointReason(p)}
		if made := v.timestamp(&p.At); made != nil {
			shown.Made = *made
		}
		for _, t := range p.Tables {
			shown.Rows += t.Rows
		}
		data.Points = append(data.Points, shown)
	}
	return v.render(http.StatusOK, "points", "Restore points", data)
}

// pointReason says why a restore point was made.
func pointReason(p toolapi.RestorePoint) string {
	before := ""
	if p.Before != nil {
		before = *p.Before
	}
	switch p.Reason {
	case "publish":
		return "before revision " + before + " went live"
	case "restore":
		return "before " + before + " was put back"
	}
	return "while rows were written"
}

// proposeRestore proposes to put a restore point back, and shows the proposal.
func (v *consoleRequest) proposeRestore(id string) error {
	form := v.x.r.PostForm
	arguments := map[string]any{"site_id": id, "point": form.Get("point"), "leads": form.Get("leads"), "into": form.Get("into")}
	if form.Get("code") == "live" {
		arguments["revision"] = "live"
	}
	if _, err := callTool[toolapi.RestoreData](v, "page.restore_data", arguments); err != nil {
		return err
	}
	return v.redirect("/console/w/" + v.in.slug + "/proposals")
}
