package service

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file is the two-call protocol (platform document, section 3.3). A proposal is bound to the tool, the workspace, the
// exact arguments, its proposer, and the state of its target. One transaction performs it, marks it as used and stores its
// response.

// plan is the first call's result of a two-call tool.
type plan[R any] struct {
	// subject identifies the decision: a newer proposal of the same holder about it replaces an older one. "" never does.
	subject string
	// target is the state of the thing that the call changes; another state makes the proposal stale.
	target string
	// summary is one sentence for a person.
	summary string
	result  R
	// release is the revision that the call makes live, if any; later is set for a scheduled one.
	release releaseChange
	later   bool
	// allowed are the tables that may lose rows by the release.
	allowed toolapi.TableNames
	apply   func() error
}

// twoCallArgs are the arguments of a two-call tool.
type twoCallArgs interface{ Confirm() string }

// migratedResult is the result of a tool that makes a revision live.
type migratedResult interface{ Report(toolapi.Migrated) }

// twoCallResult is a pointer to the result of a two-call tool.
type twoCallResult[R any] interface {
	workspaceResult[R]
	Propose(id, summary string, expires toolapi.Seconds)
	Perform()
}

// bindTwoCall binds a two-call tool. prepare plans the effect of the call, and changes nothing.
func bindTwoCall[A twoCallArgs, R any, P twoCallResult[R]](
	t toolapi.Typed[A, R], needs permission, prepare func(*call, A) (plan[R], error),
) handler {
	decode := func(c *call) (args A, fingerprint []byte, err error) {
		if err := c.body.Decode(&args); err != nil {
			return args, nil, err
		}
		fingerprint, err = c.body.Fingerprint()
		return args, fingerprint, err
	}
	_, migrates := any(P(new(R))).(migratedResult)
	return handler{
		tool: t.Tool, needs: needs, migrates: migrates,
		plannedRehearsal: func(c *call) (none plannedRehearsal, err error) {
			args, _, err := decode(c)
			if err != nil {
				return none, err
			}
			p, err := prepare(c, args)
			return plannedRehearsal{p.release, p.target}, err
		},
		plannedRelease: func(c *call) (none releaseChange, agreed approval, err error) {
			args, fingerprint, err := decode(c)
			if err != nil {
				return none, agreed, err
			}
			proposal, err := c.findProposal(strings.ToLower(args.Confirm()), fingerprint)
			if err != nil || proposal.answer.Valid || proposal.expires <= c.now.UnixMilli() {
				return none, agreed, err
			}
			if why, err := c.obstacle(&proposal, needs, c.in.zone); err != nil || why != "" {
				return none, agreed, err
			}
			now, err := prepare(c, args)
			if err != nil || now.target != proposal.target || now.later {
				return none, agreed, err
			}
			agreed, err = c.approvalOf(strings.ToLower(args.Confirm()), now.allowed)
			return now.release, agreed, err
		},
		run: func(c *call) (any, entry, error) {
			args, fingerprint, err := decode(c)
			if err != nil {
				return nil, entry{}, err
			}
			if id := args.Confirm(); id != "" {
				return confirm[R, P](c, strings.ToLower(id), fingerprint, needs, func() (plan[R], error) { return prepare(c, args) })
			}
			p, err := prepare(c, args)
			if err != nil {
				return nil, entry{}, err
			}
			return proposePlan[R, P](c, p, fingerprint)
		},
	}
}

// proposePlan stores a plan as a proposal, unless it loses data without permission.
func proposePlan[R any, P twoCallResult[R]](c *call, p plan[R], fingerprint []byte) (any, entry, error) {
	words, err := c.judgeProposal(p.target, p.allowed)
	if err != nil {
		return nil, entry{}, err
	}
	summary := oneLine(p.summary + words)
	id, err := c.propose(summary, proposalKey{p.subject, p.target, fingerprint})
	if err != nil {
		return nil, entry{}, err
	}
	result := P(&p.result)
	if of, ok := any(result).(migratedResult); ok && c.rehearsed != nil {
		of.Report(c.rehearsed.migrated)
	}
	result.Propose(id, summary, toolapi.Seconds(proposalLife/time.Second))
	result.Fill(c.as)
	return result, entry{outcome: "proposed", summary: summary}, nil
}

// confirm performs a proposal, or returns its stored response.
func confirm[R any, P twoCallResult[R]](
	c *call, id string, fingerprint []byte, needs permission, prepare func() (plan[R], error),
) (any, entry, error) {
	p, err := c.findProposal(id, fingerprint)
	if err != nil {
		return nil, entry{}, err
	}
	if p.answer.Valid {
		return json.RawMessage(c.service.showPath(id, []byte(p.answer.String))), entry{outcome: "repeated", summary: p.summary}, nil
	}
	if p.expires <= c.now.UnixMilli() {
		return nil, entry{}, refusePropose(toolapi.CodeConfirmationExpired, "The proposal has expired; nothing was done.")
	}
	why, err := c.obstacle(&p, needs, c.in.zone)
	if err != nil {
		return nil, entry{}, err
	}
	if why != "" {
		return nil, entry{}, staleError(why)
	}
	now, err := prepare()
	refused, ok := refusedWith(err)
	if ok && slices.Contains(targetGoneCodes, refused.refusal.Code) || err == nil && now.target != p.target {
		return nil, entry{}, staleError("its site or domain has changed since")
	}
	if err != nil {
		return nil, entry{}, err
	}
	if c.agreed, err = c.approvalOf(id, now.allowed); err != nil {
		return nil, entry{}, err
	}
	if err := now.apply(); err != nil {
		return nil, entry{}, err
	}
	result := P(&now.result)
	if of, ok := any(result).(migratedResult); ok {
		if now.later {
			c.migrated = c.agreed.Migrated
		}
		of.Report(c.migrated)
	}
	result.Perform()
	result.Fill(c.as)
	text, err := json.Marshal(result)
	if err != nil {
		return nil, entry{}, err
	}
	return result, entry{outcome: "done", summary: p.summary}, c.exec("UPDATE proposals SET answer = ?, confirmed_by = ? WHERE id = ?",
		string(hidePath(text)), c.who.holder, id)
}

// targetGoneCodes are refusals for a target that a proposal can no longer have.
var targetGoneCodes = []string{
	toolapi.CodeSiteUnknown, toolapi.CodeDomainUnknown, toolapi.CodeNoRevision, toolapi.CodeRevisionUnknown,
	toolapi.CodeDomainThere, toolapi.CodeRevisionLive, toolapi.CodeDomainTaken,
}

// findProposal returns the proposal that a call may confirm. Ids of other people, tools or workspaces are unknown.
func (c *call) findProposal(id string, fingerprint []byte) (p proposalRow, err error) {
	if c.who.service {
		return p, &refusalError{refusal: toolapi.ToolRefusal{
			Code: toolapi.CodeConfirmationNeedsMember, Message: "A service account can propose but never confirm.",
			Instruction: "Ask a member of the workspace to confirm with their own key and the same arguments.",
		}}
	}
	found, err := c.queryOne(proposalQuery+"p.id = ? AND p.tool = ? AND p.workspace_id = ?",
		[]any{id, c.tool.Name, c.in.id}, p.columns()...)
	switch {
	case err != nil:
		return p, err
	case !found, p.holder != c.who.holder && !p.service:
		return p, refusePropose(toolapi.CodeConfirmationUnknown, "There is no such proposal; nothing was done.")
	case !bytes.Equal(p.fingerprint, fingerprint):
		return p, refuseAt(
			toolapi.CodeConfirmationMismatch, "The arguments are not those that were proposed; nothing was done.",
			"confirmation_id", "repeat the proposed arguments exactly",
		)
	}
	return p, nil
}

func refusePropose(code, message string) error {
	return refuseAt(code, message, "confirmation_id", "propose again: send the arguments without confirmation_id")
}

// uuid is a random UUID, version 4.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// oneLine makes a summary safe to show: one line of visible characters, without control of the text direction.
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

// quoteName quotes a user's name for a summary.
func quoteName(s string) string {
	const longest = 80
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	return "“" + s + "”"
}
