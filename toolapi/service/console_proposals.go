package service

import (
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

// This file shows a person the proposals that wait for approval (platform document, section 3.3). An approval is the second
// of the two calls, with the proposed arguments and the key that signed in.

// proposalView shows a proposal.
type proposalView struct {
	ID, Tool, Title, Summary string
	By, Email                string
	Service                  bool
	Created, Expires         clockView
	Left                     string
	Arguments                []argumentView
	Changes                  []changeView
	Contents                 *contentsView // of the revision that would go live
	Losses                   *lossView     // by its migrations
	MayApprove               bool
	Because                  string // the reason why the person may not approve
}

// closedView shows a proposal that can no longer be approved.
type closedView struct {
	ID, Title, Summary, By string
	Created                clockView
	Why                    string // a clause
}

// argumentView shows an argument exactly as proposed, and the object that it names.
type argumentView struct{ Name, Value, Means string }

// changeView shows one change.
type changeView struct{ What, Now, Then string }

// clockView shows a time in the workspace's zone.
type clockView struct{ Machine, Text, Hour string }

func (v *consoleRequest) clock(ms int64) clockView {
	at := time.UnixMilli(ms)
	zone, err := time.LoadLocation(v.in.zone)
	if err != nil {
		zone = time.UTC
	}
	local := at.In(zone)
	return clockView{at.UTC().Format(time.RFC3339), local.Format("Mon 2 Jan 2006, 15:04:05 MST"), local.Format("15:04")}
}

// proposalsPage shows the open proposals, and the result of the one that was just decided.
func (v *consoleRequest) proposalsPage() error {
	data := struct {
		Open    []proposalView
		Closed  []closedView
		Settled string
		Done    bool
		Newest  string
	}{Newest: "none"}
	err := v.service.db.read(v.x.r.Context(), func(t tx) error {
		open, closed, err := v.service.waitingProposals(t, v.in.id, v.in.zone, v.now)
		if err != nil {
			return err
		}
		for _, p := range open {
			shown, err := v.show(t, p)
			if err != nil {
				return err
			}
			data.Open = append(data.Open, shown)
		}
		for _, p := range closed {
			title := v.service.tools[p.tool].tool.Title
			data.Closed = append(data.Closed, closedView{p.id, title, p.summary, p.name, v.clock(p.created), p.why})
		}
		if len(open) > 0 {
			data.Newest = open[0].id
		}
		var settled proposalRow
		found, err := t.queryOne(proposalQuery+"p.workspace_id = ? AND p.id = ?",
			[]any{v.in.id, v.x.r.URL.Query().Get("settled")}, settled.columns()...)
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

// servePending reports new proposals to the page's script.
func (v *consoleRequest) servePending() error {
	newest := "none"
	n, err := readTx(v.x.r.Context(), v.service.db, func(t tx) (int, error) {
		open, _, err := v.service.waitingProposals(t, v.in.id, v.in.zone, v.now)
		if len(open) > 0 {
			newest = open[0].id
		}
		return len(open), err
	})
	if err != nil {
		return err
	}
	body, err := encode(map[string]any{"waiting": n, "newest": newest})
	if err == nil {
		v.x.reply(http.StatusOK, body)
	}
	return err
}

// show makes the view of a proposal.
func (v *consoleRequest) show(t tx, p proposalRow) (proposalView, error) {
	h := v.service.tools[p.tool]
	remaining := time.Duration(p.expires-v.now.UnixMilli()) * time.Millisecond
	left := fmt.Sprintf("%d s", int(remaining.Seconds()))
	if remaining >= time.Minute {
		left = fmt.Sprintf("%d min %02d s", int(remaining.Minutes()), int(remaining.Seconds())%60)
	}
	shown := proposalView{
		ID: p.id, Tool: p.tool, Title: h.tool.Title, Summary: p.summary, By: p.name, Email: p.email, Service: p.service,
		Created: v.clock(p.created), Expires: v.clock(p.expires), Left: left,
	}
	shown.MayApprove, shown.Because = v.mayApprove(p, h)
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
	var err error
	if shown.Losses, err = t.losses(p.id, arguments); err != nil {
		return shown, err
	}
	if shown.Losses != nil {
		shown.Losses.Restore = p.tool == "page.restore_data"
	}
	return shown, v.effects(t, p, arguments, &shown)
}

// exactText returns a value as sent, with misleading characters escaped.
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

// mayApprove reports whether the person may approve, by the rules of confirm, and else why not.
func (v *consoleRequest) mayApprove(p proposalRow, h handler) (ok bool, because string) {
	switch {
	case v.who.service:
		return false, "A service account can propose, but not approve."
	case !roleAllows(v.in.role, h.needs):
		return false, "Your role here may not " + string(h.needs) + "."
	case !p.service && p.holder != v.who.holder:
		return false, "Only " + p.name + ", who proposed it, can approve it."
	}
	return true, ""
}

// effects adds the changes of an approval.
func (v *consoleRequest) effects(t tx, p proposalRow, arguments map[string]any, shown *proposalView) (err error) {
	id, _ := arguments["site_id"].(string)
	var s siteRow
	if _, err := t.queryOne(siteQuery+"s.id = lower(?) AND s.workspace_id = ?", []any{id, v.in.id}, s.columns()...); err != nil {
		return err
	}
	live := "nothing: never published"
	if s.live.Valid {
		live = "revision " + s.live.String
	}
	_, revision, _ := strings.Cut(p.target, " to ")
	switch p.tool {
	case "page.publish", "page.rollback":
		shown.Changes = append(shown.Changes, changeView{"What " + s.hostname + " serves", live, "revision " + revision + ", at once"})
		shown.Contents, err = v.contents(t, s, revision)
	case "page.restore_data":
		target, point, _ := strings.Cut(revision, " with ")
		then := "restore point " + point
		if into, _ := arguments["into"].(string); into == "preview" {
			shown.Changes = append(shown.Changes, changeView{"What " + s.hostname + " serves", live, "the same"},
				changeView{"A preview link", "none", "revision " + target + " with the data of " + then})
			break
		}
		what := "The data of " + s.hostname
		if tables, ok := arguments["tables"].([]any); ok && len(tables) > 0 {
			var names []string
			for _, name := range tables {
				names = append(names, fmt.Sprint(name))
			}
			what = fmt.Sprintf("The rows of %s, of %s", exactText(shortNames(names)), s.hostname)
		}
		shown.Changes = append(shown.Changes, changeView{what, "as they are, saved as a restore point", then})
		if target != s.live.String {
			shown.Changes = append(shown.Changes, changeView{"What " + s.hostname + " serves", live, "revision " + target + ", at once"})
			if shown.Contents, err = v.contents(t, s, target); err == nil && shown.Contents != nil {
				// The data come with the current migrations.
				shown.Contents.Rows = slices.DeleteFunc(shown.Contents.Rows, func(r contentsRow) bool { return r.What == "Not in it" })
			}
		}
	case "page.change_settings":
		shown.Changes, err = t.settingsChanges(s.id, arguments)
	case "page.schedule_publish":
		scheduled := "nothing"
		if s.due.Valid {
			scheduled = "revision " + s.scheduled.String + " on " + v.clock(s.due.Int64).Text
		}
		then := "revision " + revision
		if at, ok := toolapi.Timestamp(fmt.Sprint(arguments["at"])).Moment(); ok {
			then += " on " + v.clock(at.UnixMilli()).Text
		}
		shown.Changes = append(shown.Changes,
			changeView{"The scheduled publish of " + s.hostname, scheduled, then},
			changeView{"The revision until then", live, "the same"})
		shown.Contents, err = v.contents(t, s, revision)
	case "domain.connect":
		shown.Changes = append(shown.Changes, changeView{
			exactText(arguments["hostname"]), "not connected", "points at " + s.name + ", which serves " + live,
		})
	case "domain.point_at_site":
		domain, _ := arguments["domain_id"].(string)
		var hostname, points string
		_, err = t.queryOne("SELECT d.hostname, s.name FROM domains d JOIN sites s ON s.id = d.site_id WHERE "+
			"d.id = lower(?) AND d.workspace_id = ?", []any{domain, v.in.id}, &hostname, &points)
		shown.Changes = append(shown.Changes, changeView{"Where " + hostname + " points", points, s.name + ", which serves " + live})
	}
	return err
}

func (v *consoleRequest) findProposal(id string) (p proposalRow, err error) {
	err = v.service.db.read(v.x.r.Context(), func(t tx) error {
		return t.queryOr(notFound(), proposalQuery+"p.workspace_id = ? AND p.id = ?", []any{v.in.id, id}, p.columns()...)
	})
	return p, err
}

// approve makes the second call.
func (v *consoleRequest) approve(id string) error {
	p, err := v.findProposal(id)
	if err != nil {
		return err
	}
	if unseen, err := v.losesUnseen(p); err != nil {
		return err
	} else if unseen {
		return v.problem(http.StatusConflict, "Not approved",
			"This proposal loses rows or values. Confirm that with the checkbox, then approve; nothing was done.")
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
	return v.problem(http.StatusConflict, "Not approved", refusal.Message)
}

// endProposal rejects a proposal for a person who could approve it.
func (v *consoleRequest) endProposal(id string) error {
	p, err := v.findProposal(id)
	if err != nil {
		return err
	}
	h := v.service.tools[p.tool]
	if ok, because := v.mayApprove(p, h); !ok {
		return v.problem(http.StatusForbidden, "You cannot decide this", because)
	}
	err = v.service.db.write(v.x.r.Context(), func(t tx) error {
		// The expiry is long ago, so that a clock set back cannot make it valid again.
		n, err := t.change("UPDATE proposals SET expires_at = ? WHERE id = ? AND answer IS NULL AND expires_at > ?",
			v.now.Add(-answerLife/2).UnixMilli(), id, v.now.UnixMilli())
		if err != nil || n == 0 {
			return err
		}
		c := &call{tx: t, service: v.service, tool: h.tool, request: v.x.request, now: v.now, who: v.who, in: v.in}
		return c.audit(entry{outcome: "refused", code: "lapsed", summary: "Rejected: " + p.summary})
	})
	if err != nil {
		return err
	}
	return v.redirect("/console/w/" + v.in.slug + "/proposals?settled=" + id)
}
