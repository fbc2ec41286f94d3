package service

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file shows a person what waits for their go-ahead, and takes it (platform
// document, section 3.3). To approve is to make the second call of the two, with the
// arguments that were proposed and the key that is signed in.

// countPending is how many proposals of a workspace can still be confirmed.
func (t tx) countPending(workspace int64, now time.Time) (n int, err error) {
	_, err = t.queryOne(
		"SELECT count(*) FROM proposals WHERE workspace_id = ? AND expires_at > ? AND answer IS NULL",
		[]any{workspace, now.UnixMilli()}, &n,
	)
	return n, err
}

// proposalRow is a proposal as it is kept.
type proposalRow struct {
	proposer

	id, tool, arguments, target, summary string
	name, email                          string
	created, expires                     int64
	answer                               sql.NullString
}

const proposalQuery = "SELECT " + proposerColumns +
	`, p.id, p.tool, p.arguments, p.target, p.summary, h.name, h.email, p.created_at, p.expires_at, p.answer
	FROM proposals p ` + proposerTables + " WHERE p.workspace_id = ? AND "

func (p *proposalRow) columns() []any {
	return append(
		p.proposer.columns(), &p.id, &p.tool, &p.arguments, &p.target, &p.summary, &p.name, &p.email, &p.created,
		&p.expires, &p.answer,
	)
}

// proposalView is a proposal as a person sees it.
type proposalView struct {
	ID, Tool, Title, Summary string
	By, Email                string
	Service                  bool
	Created, Expires         clockView
	Left                     string
	Arguments                []argumentView
	Changes                  []changeView
	Contents                 *contentsView // of the revision that would go live
	Stale                    bool
	MayApprove               bool
	Because                  string // why it may not
}

// argumentView is an argument exactly as it was proposed, and what it names.
type argumentView struct{ Name, Value, Means string }

// changeView is one thing that would be another.
type changeView struct{ What, Now, Then string }

// clockView is a time in the workspace's zone.
type clockView struct{ Machine, Text, Hour string }

// clock shows a time to people.
func (v *visit) clock(ms int64) clockView {
	at := time.UnixMilli(ms)
	zone, err := time.LoadLocation(v.in.zone)
	if err != nil {
		zone = time.UTC
	}
	local := at.In(zone)
	return clockView{at.UTC().Format(time.RFC3339), local.Format("Mon 2 Jan 2006, 15:04:05 MST"), local.Format("15:04")}
}

// proposalsPage shows what waits, and what became of the one that was just decided.
func (v *visit) proposalsPage() error {
	data := struct {
		Open    []proposalView
		Settled string
		Done    bool
		Newest  string
	}{Newest: "none"}
	err := v.service.db.read(v.x.r.Context(), func(t tx) error {
		rows, err := list(t, func(rows *sql.Rows, p *proposalRow) error { return rows.Scan(p.columns()...) },
			proposalQuery+"p.expires_at > ? AND p.answer IS NULL ORDER BY p.created_at DESC, p.id", v.in.id, v.now.UnixMilli())
		if err != nil {
			return err
		}
		for _, p := range rows {
			shown, err := v.show(t, p)
			if err != nil {
				return err
			}
			data.Open = append(data.Open, shown)
		}
		if len(rows) > 0 {
			data.Newest = rows[0].id
		}
		var settled proposalRow
		found, err := t.queryOne(proposalQuery+"p.id = ?", []any{v.in.id, v.x.r.URL.Query().Get("settled")}, settled.columns()...)
		if found && (settled.answer.Valid || settled.expires <= v.now.UnixMilli()) {
			data.Settled, data.Done = settled.summary, settled.answer.Valid
		}
		return err
	})
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "proposals", "Proposals", data)
}

// pending is asked by the page's script: whether there is something new.
func (v *visit) pending() error {
	var newest string
	var n int
	err := v.service.db.read(v.x.r.Context(), func(t tx) (err error) {
		if n, err = t.countPending(v.in.id, v.now); err != nil {
			return err
		}
		_, err = t.queryOne(
			"SELECT id FROM proposals WHERE workspace_id = ? AND expires_at > ? AND answer IS NULL ORDER BY created_at DESC, id LIMIT 1",
			[]any{v.in.id, v.now.UnixMilli()}, &newest,
		)
		return err
	})
	if err != nil {
		return err
	}
	if newest == "" {
		newest = "none"
	}
	body, err := encode(map[string]any{"waiting": n, "newest": newest})
	if err == nil {
		v.x.reply(http.StatusOK, body)
	}
	return err
}

// show makes a proposal one that a person can decide on.
func (v *visit) show(t tx, p proposalRow) (proposalView, error) {
	h := v.service.tools[p.tool]
	shown := proposalView{
		ID: p.id, Tool: p.tool, Title: h.tool.Title, Summary: p.summary, By: p.name, Email: p.email, Service: p.service,
		Created: v.clock(p.created), Expires: v.clock(p.expires),
		Left: remainingTime(time.Duration(p.expires-v.now.UnixMilli()) * time.Millisecond),
	}
	shown.MayApprove, shown.Because = v.mayApprove(p, h)
	if shown.MayApprove && !p.isValid(h.needs) {
		shown.MayApprove, shown.Because = false, p.name+" may not propose it any more: its key was revoked, or it lost its role."
	}
	var arguments map[string]any
	if err := json.Unmarshal([]byte(p.arguments), &arguments); err != nil {
		return shown, err
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		a := argumentView{Name: name, Value: exactText(arguments[name])}
		id, _ := arguments[name].(string)
		var err error
		switch name {
		case "site_id":
			_, err = t.queryOne("SELECT name FROM sites WHERE id = lower(?) AND workspace_id = ?", []any{id, v.in.id}, &a.Means)
		case "domain_id":
			_, err = t.queryOne("SELECT hostname FROM domains WHERE id = lower(?) AND workspace_id = ?", []any{id, v.in.id}, &a.Means)
		}
		if err != nil {
			return shown, err
		}
		shown.Arguments = append(shown.Arguments, a)
	}
	return shown, v.effects(t, p, arguments, &shown)
}

// exactText is a value as it was sent; text that a page could show as something else is
// shown escaped.
func exactText(value any) string {
	if text, ok := value.(string); ok {
		if oneLine(text) == text {
			return text
		}
		return strconv.Quote(text)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}

// remainingTime is a duration in words.
func remainingTime(d time.Duration) string {
	if d >= time.Minute {
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// mayApprove says whether the person may, by the rules of confirm.
func (v *visit) mayApprove(p proposalRow, h handler) (ok bool, because string) {
	switch {
	case v.who.service:
		return false, "A service account proposes and never approves."
	case !roleAllows(v.in.role, h.needs):
		return false, "Your role here may not " + string(h.needs) + "."
	case !p.service && p.holder != v.who.holder:
		return false, "Only " + p.name + ", who proposed it, can approve it."
	}
	return true, ""
}

// effects says what would be another after the approval.
func (v *visit) effects(t tx, p proposalRow, arguments map[string]any, shown *proposalView) error {
	id, _ := arguments["site_id"].(string)
	var s siteRow
	found, err := t.queryOne(siteQuery+"s.id = lower(?) AND s.workspace_id = ?", []any{id, v.in.id}, s.columns()...)
	if err != nil {
		return err
	}
	shown.Stale = !found || !strings.Contains(p.target+" ", s.state()+" ")
	live := "nothing: never published"
	if s.live.Valid {
		live = "revision " + s.live.String
	}
	_, revision, _ := strings.Cut(p.target, " to ")
	switch p.tool {
	case "page.publish", "page.rollback":
		shown.Changes = append(shown.Changes, changeView{"What " + s.hostname + " serves", live, "revision " + revision + ", at once"})
		shown.Contents, err = v.contents(t, s, revision)
	case "page.schedule_publish":
		scheduled := "nothing"
		if s.due.Valid {
			scheduled = "revision " + s.scheduled.String + " on " + v.clock(s.due.Int64).Text
		}
		then := "revision " + revision
		if at, ok := toolapi.Timestamp(fmt.Sprint(arguments["at"])).Moment(); ok {
			then += " on " + v.clock(at.UnixMilli()).Text
		}
		shown.Changes = append(
			shown.Changes, changeView{"What is scheduled for " + s.hostname, scheduled, then},
			changeView{"What it serves until then", live, "the same"},
		)
		shown.Contents, err = v.contents(t, s, revision)
	case "domain.connect":
		shown.Changes = append(shown.Changes, changeView{
			exactText(arguments["hostname"]), "not connected", "points at " + s.name + ", which serves " + live,
		})
	case "domain.point_at_site":
		domain, _ := arguments["domain_id"].(string)
		var hostname, points string
		var version int64
		found, err = t.queryOne(
			"SELECT d.hostname, s.name, d.version FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.id = "+
				"lower(?) AND d.workspace_id = ?",
			[]any{domain, v.in.id}, &hostname, &points, &version,
		)
		shown.Stale = shown.Stale || !found || !strings.Contains(p.target, fmt.Sprintf(" at %d,", version))
		shown.Changes = append(shown.Changes, changeView{"Where " + hostname + " points", points, s.name + ", which serves " + live})
	}
	return err
}

// open finds a proposal of the workspace that can still be decided.
func (v *visit) open(id string) (p proposalRow, err error) {
	err = v.service.db.read(v.x.r.Context(), func(t tx) error {
		found, err := t.queryOne(proposalQuery+"p.id = ?", []any{v.in.id, id}, p.columns()...)
		if err == nil && !found {
			err = notFound()
		}
		return err
	})
	return p, err
}

// approve makes the second call.
func (v *visit) approve(id string) error {
	p, err := v.open(id)
	if err != nil {
		return err
	}
	body, err := toolapi.ParseObject([]byte(p.arguments))
	if err != nil {
		return err
	}
	a, err := v.call(p.tool, body.With(map[string]string{"workspace": v.in.slug, "confirmation_id": id}))
	if err != nil {
		return err
	}
	v.x.tool, v.x.code = p.tool, a.refused
	if a.refused == "" {
		return v.redirect("/console/w/" + v.in.slug + "/proposals?settled=" + id)
	}
	var refusal toolapi.ToolRefusal
	if err := json.Unmarshal(a.body, &refusal); err != nil {
		return err
	}
	return v.render(http.StatusConflict, "problem", "Not approved", map[string]string{
		"Problem": refusal.Message, "Request": v.x.request, "Back": "proposals",
	})
}

// endProposal ends a proposal before its time, for who could have approved it.
func (v *visit) endProposal(id string) error {
	p, err := v.open(id)
	if err != nil {
		return err
	}
	h := v.service.tools[p.tool]
	if ok, because := v.mayApprove(p, h); !ok {
		return v.render(http.StatusForbidden, "problem", "Not yours to decide", map[string]string{
			"Problem": because, "Request": v.x.request, "Back": "proposals",
		})
	}
	err = v.service.db.write(v.x.r.Context(), func(t tx) error {
		// Long ago, and not now: a clock that is set back must not make it good again.
		n, err := t.change(
			"UPDATE proposals SET expires_at = ? WHERE id = ? AND answer IS NULL AND expires_at > ?",
			v.now.Add(-answerLife/2).UnixMilli(), id, v.now.UnixMilli(),
		)
		if err != nil || n == 0 {
			return err
		}
		c := &call{tx: t, service: v.service, tool: h.tool, request: v.x.request, now: v.now, who: v.who, in: v.in}
		return c.audit(entry{outcome: "refused", code: "lapsed", summary: "Let lapse: " + p.summary})
	})
	if err != nil {
		return err
	}
	return v.redirect("/console/w/" + v.in.slug + "/proposals?settled=" + id)
}
