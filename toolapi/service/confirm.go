package service

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file is the two-call protocol (platform document, section 3.3). A proposal is
// bound to the tool, the workspace, the exact arguments, who proposed, and the state
// of its target; performing it, marking it as used and keeping its answer
// are one transaction.

// plan is what a two-call tool would do.
type plan[R any] struct {
	// target is the state of what the call is about: the proposal is stale when it
	// is another one.
	target string
	// summary is one sentence for a person.
	summary string
	result  R
	// goes is the revision that the call makes live, if it does.
	goes  releaseChange
	apply func() error
}

// proposing is the arguments of a two-call tool.
type proposing interface{ Confirm() string }

// proposed is a pointer to the result of a two-call tool.
type proposed[R any] interface {
	filled[R]
	Propose(id, summary string, expires toolapi.Seconds)
	Perform()
}

// onTwo binds a two-call tool. prepare finds out what the call would do, and
// changes nothing.
func onTwo[A proposing, R any, P proposed[R]](t toolapi.Typed[A, R], needs permission, prepare func(*call, A) (plan[R], error)) handler {
	return handler{
		tool: t.Tool, needs: needs,
		ahead: func(c *call) (releaseChange, error) { return plannedRelease(c, prepare) }, run: func(c *call) (any, entry, error) {
			var args A
			if err := c.body.Decode(&args); err != nil {
				return nil, entry{}, err
			}
			asked, err := c.body.Fingerprint()
			if err != nil {
				return nil, entry{}, err
			}
			if id := args.Confirm(); id != "" {
				return confirm[R, P](c, strings.ToLower(id), asked, func() (plan[R], error) { return prepare(c, args) })
			}
			p, err := prepare(c, args)
			if err != nil {
				return nil, entry{}, err
			}
			id, summary := uuid(), oneLine(p.summary)
			if err := c.propose(id, summary, p.target, asked); err != nil {
				return nil, entry{}, err
			}
			result := P(&p.result)
			result.Propose(id, summary, toolapi.Seconds(proposalLife/time.Second))
			result.Fill(c.as)
			return result, entry{outcome: "proposed", summary: summary}, nil
		},
	}
}

// plannedRelease is what a confirming call will make live, if it is one that will do so.
func plannedRelease[A proposing, R any](c *call, prepare func(*call, A) (plan[R], error)) (releaseChange, error) {
	var args A
	if err := c.body.Decode(&args); err != nil {
		return releaseChange{}, err
	}
	asked, err := c.body.Fingerprint()
	if err != nil {
		return releaseChange{}, err
	}
	proposal, err := c.find(strings.ToLower(args.Confirm()), asked)
	if err != nil || proposal.answer.Valid || proposal.expires <= c.now.UnixMilli() || !proposal.isValid(c.requiredPermission()) {
		return releaseChange{}, err
	}
	now, err := prepare(c, args)
	if err != nil || now.target != proposal.target {
		return releaseChange{}, err
	}
	return now.goes, nil
}

// propose stores a proposal; the oldest open ones of the holder make room.
func (c *call) propose(id, summary, target string, asked []byte) error {
	err := c.exec(`DELETE FROM proposals WHERE id IN (SELECT id FROM proposals WHERE holder_id = ? AND workspace_id = ? AND answer IS NULL
		ORDER BY created_at DESC, id LIMIT -1 OFFSET ?)`, c.who.holder, c.in.id, maxProposals-1)
	if err != nil {
		return err
	}
	arguments, err := c.body.Arguments()
	if err != nil {
		return err
	}
	return c.exec("INSERT INTO proposals (id, tool, workspace_id, holder_id, key_id, fingerprint, arguments, target, "+
		"summary, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		id, c.tool.Name, c.in.id, c.who.holder, c.who.key, asked, string(arguments), target, summary, c.now.UnixMilli(),
		c.now.Add(proposalLife).UnixMilli())
}

// proposer is who made a proposal, as of now.
type proposer struct {
	holder  int64
	service bool
	role    string // in the workspace; "" for none
	revoked bool   // the key is
}

// proposerColumns are those of a proposer, of proposals p with proposerTables.
const (
	proposerColumns = "p.holder_id, h.service, coalesce(m.role, ''), k.revoked_at IS NOT NULL"
	proposerTables  = `JOIN holders h ON h.id = p.holder_id LEFT JOIN keys k ON k.id = p.key_id
		LEFT JOIN memberships m ON m.holder_id = p.holder_id AND m.workspace_id = p.workspace_id`
)

func (p *proposer) columns() []any { return []any{&p.holder, &p.service, &p.role, &p.revoked} }

// isValid reports whether a proposal still counts as that of its proposer. A member who
// confirms has permissions of their own; a service account's reach ends with its key and
// its membership, and what others would do for it ends too.
func (p *proposer) isValid(needs permission) bool {
	return !p.service || !p.revoked && roleAllows(p.role, needs)
}

// open is a proposal that a call names.
type open struct {
	proposer

	fingerprint []byte
	target      string
	summary     string
	expires     int64
	answer      sql.NullString
}

// confirm performs a proposal, or repeats its answer.
func confirm[R any, P proposed[R]](c *call, id string, asked []byte, prepare func() (plan[R], error)) (any, entry, error) {
	p, err := c.find(id, asked)
	if err != nil {
		return nil, entry{}, err
	}
	if p.answer.Valid {
		return json.RawMessage(p.answer.String), entry{outcome: "repeated", summary: p.summary}, nil
	}
	if p.expires <= c.now.UnixMilli() {
		return nil, entry{}, refusePropose(toolapi.CodeConfirmationExpired, "The proposal has expired; nothing was done.")
	}
	if !p.isValid(c.requiredPermission()) {
		return nil, entry{}, refusePropose(
			toolapi.CodeConfirmationStale,
			"The service account that proposed it may not propose it any more; nothing was done.",
		)
	}
	now, err := prepare()
	if refused, ok := refusedWith(err); ok && isTargetGone(refused.refusal.Code) || err == nil && now.target != p.target {
		return nil, entry{}, refusePropose(toolapi.CodeConfirmationStale, "What the proposal is about has changed since; nothing was done.")
	}
	if err != nil {
		return nil, entry{}, err
	}
	if err := now.apply(); err != nil {
		return nil, entry{}, err
	}
	result := P(&now.result)
	result.Perform()
	result.Fill(c.as)
	text, err := json.Marshal(result)
	if err != nil {
		return nil, entry{}, err
	}
	return result, entry{outcome: "done", summary: p.summary}, c.exec(
		"UPDATE proposals SET answer = ?, confirmed_by = ? WHERE id = ?", string(text), c.who.holder, id,
	)
}

// find returns the proposal that a call may confirm. Ids of someone else, of another
// tool or of another workspace are unknown.
func (c *call) find(id string, asked []byte) (open, error) {
	var p open
	if c.who.service {
		return p, &refusalError{refusal: toolapi.ToolRefusal{
			Code: toolapi.CodeConfirmationNeedsMember, Message: "A service account can propose but never confirm.",
			Instruction: "Ask a member of the workspace to confirm with their own key and the same arguments.",
		}}
	}
	found, err := c.queryOne("SELECT "+proposerColumns+
		", p.fingerprint, p.target, p.summary, p.expires_at, p.answer FROM proposals p "+proposerTables+
		" WHERE p.id = ? AND p.tool = ? AND p.workspace_id = ?",
		[]any{id, c.tool.Name, c.in.id}, append(p.columns(), &p.fingerprint, &p.target, &p.summary, &p.expires, &p.answer)...)
	switch {
	case err != nil:
		return p, err
	case !found, p.holder != c.who.holder && !p.service:
		return p, refusePropose(toolapi.CodeConfirmationUnknown, "There is no such proposal; nothing was done.")
	case !bytes.Equal(p.fingerprint, asked):
		return p, refuseAt(
			toolapi.CodeConfirmationMismatch, "The arguments are not those that were proposed; nothing was done.",
			"confirmation_id", "repeat the proposed arguments exactly",
		)
	}
	return p, nil
}

// requiredPermission is what the tool of the call takes.
func (c *call) requiredPermission() permission { return c.service.tools[c.tool.Name].needs }

func refusePropose(code, message string) error {
	return refuseAt(code, message, "confirmation_id", "propose again: send the arguments without confirmation_id")
}

// isTargetGone reports whether a refusal says that the target is not there any more.
func isTargetGone(code string) bool {
	return code == toolapi.CodeSiteUnknown || code == toolapi.CodeDomainUnknown || code == toolapi.CodeNoRevision ||
		code == toolapi.CodeRevisionUnknown ||
		code == toolapi.CodeDomainThere || code == toolapi.CodeRevisionLive || code == toolapi.CodeDomainTaken
}

// uuid is a random UUID, version 4.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// oneLine makes a summary what can be shown to a person: one line of visible
// characters, none of which turns the direction of text.
func oneLine(s string) string {
	var out strings.Builder
	n := 0
	for _, r := range s {
		if n == maxSummary-1 {
			out.WriteRune('…')
			break
		}
		if r == '<' || r == '>' || !unicode.IsPrint(r) {
			r = '\ufffd'
		}
		out.WriteRune(r)
		n++
	}
	return out.String()
}

// quoteName is a name that someone chose, as a summary quotes it.
func quoteName(s string) string {
	const longest = 80
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	return "“" + s + "”"
}
