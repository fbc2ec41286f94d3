package service

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file takes a call that the boundary admitted to its tool and back. A tool
// that can change something runs in one transaction with the look at who calls,
// the audit row, and what is kept for a retry; one that reads sees one
// state of the database.

// call is one admitted call.
type call struct {
	tx
	service  *Service
	tool     *toolapi.Tool
	hash     []byte // of the key
	request  string // request id
	body     toolapi.Object
	headerID string // idempotency key of the header
	now      time.Time
	version  int64 // of the database, when the call was admitted
	proven   bool  // DNS had the proof of the domain that is to be verified

	who identity
	in  reachable
	as  toolapi.WorkingIn

	after []func() // once it is committed
}

// response is what a call is answered with, HTTP status 200.
type response struct {
	body []byte
	// refused is the code of a refusal; "" for a result.
	refused string
	// boundary says that resolving the workspace refused.
	boundary bool
}

// entry is what the audit trail keeps of a call.
type entry struct{ outcome, code, summary string }

// handler is a tool bound to its code.
type handler struct {
	tool  *toolapi.Tool
	needs permission
	run   func(*call) (any, entry, error)
	// replay turns a kept answer into the one a retry gets; nil where there are none.
	replay func([]byte) ([]byte, error)
	// before does what takes long, outside of the transaction; nil where nothing does.
	before func(context.Context, *call) error
	// ahead says what a confirming call will make live; nil where no call does.
	ahead func(*call) (releaseChange, error)
}

// filled is a pointer to a result, which names the workspace.
type filled[R any] interface {
	*R
	Fill(toolapi.WorkingIn)
}

// bindTool binds a tool that takes one call.
func bindTool[A, R any, P filled[R]](t toolapi.Typed[A, R], needs permission, run func(*call, A) (R, error)) handler {
	return handler{tool: t.Tool, needs: needs, run: func(c *call) (any, entry, error) {
		var args A
		if err := c.body.Decode(&args); err != nil {
			return nil, entry{}, err
		}
		result, err := run(c, args)
		P(&result).Fill(c.as)
		return &result, entry{outcome: "done"}, err
	}}
}

// bindPrepared binds a tool that does something before its transaction.
func bindPrepared(before func(context.Context, *call) error, h handler) handler {
	h.before = before
	return h
}

// onReplayed binds a tool whose answer is kept for retries.
func onReplayed[A, R any, P interface {
	filled[R]
	Replay()
}](t toolapi.Typed[A, R], needs permission, run func(*call, A) (R, error),
) handler {
	h := bindTool[A, R, P](t, needs, run)
	h.replay = func(kept []byte) ([]byte, error) {
		var result R
		if err := json.Unmarshal(kept, &result); err != nil {
			return nil, err
		}
		P(&result).Replay()
		return encode(&result)
	}
	return h
}

// dispatch runs the tool. What it returns as an error is a *toolapi.Error, or a
// failure of the service itself.
func (h handler) dispatch(ctx context.Context, c *call) (a response, err error) {
	if issues := c.check(); len(issues) > 0 {
		return h.auditRefusal(ctx, c, invalid(issues...))
	}
	if h.tool.Effect != toolapi.Reads {
		return h.commit(ctx, c)
	}
	var refusal error
	err = c.service.db.read(ctx, func(t tx) error {
		a, err = h.runInTransaction(c, t)
		if _, refused := refusedWith(err); refused {
			refusal, err = err, nil
		}
		return err
	})
	if refusal != nil && err == nil {
		return h.auditRefusal(ctx, c, refusal)
	}
	return a, err
}

// commit runs a tool that writes. What it makes live is made ready before, and shown
// after.
func (h handler) commit(ctx context.Context, c *call) (a response, err error) {
	if h.before != nil {
		err = h.before(ctx, c)
	}
	var next *ready
	if err == nil {
		next, err = h.makeReady(ctx, c)
	}
	if _, refused := refusedWith(err); refused {
		return h.auditRefusal(ctx, c, err)
	}
	if err != nil {
		return response{}, err
	}
	err = c.service.db.write(ctx, func(t tx) error {
		a, err = h.runInTransaction(c, t)
		return err
	})
	if err != nil || a.refused != "" {
		next.discard()
		return a, err
	}
	next.show()
	for _, do := range c.after {
		do()
	}
	return a, nil
}

// check lists what is wrong with the arguments.
func (c *call) check() []toolapi.Issue {
	issues := c.body.Check(c.tool)
	if c.tool.Replays && c.headerID == "" && !c.body.Has("idempotency_key") {
		issues = append(issues, toolapi.Issue{
			Path: "idempotency_key", Message: "is required: send the Idempotency-Key header, or over MCP this argument",
		})
	}
	return issues
}

// auditRefusal writes the audit row of a call that a reading tool refused.
func (h handler) auditRefusal(ctx context.Context, c *call, refusal error) (a response, err error) {
	err = c.service.db.write(ctx, func(t tx) error {
		if err := c.enter(t); err != nil {
			return err
		}
		if c.in.id == 0 { // the arguments were looked at before the workspace
			c.in, _, _ = c.who.resolve(c.body.String("workspace")) // then the row names none
		}
		a, err = c.refuse(refusal)
		return err
	})
	return a, err
}

// enter looks up who calls, as of this transaction.
func (c *call) enter(t tx) (err error) {
	c.tx = t
	c.who, err = identify(t, c.hash, c.now)
	return err
}

// runInTransaction runs the tool in its transaction. A refusal of a reading tool is the error.
func (h handler) runInTransaction(c *call, t tx) (response, error) {
	if err := c.enter(t); err != nil {
		return response{}, err
	}
	reading := h.tool.Effect == toolapi.Reads
	in, source, err := c.who.resolve(c.body.String("workspace"))
	c.in, c.as = in, workingIn(in, source)
	if err == nil && !roleAllows(in.role, h.needs) {
		err = refuse(toolapi.CodePermissionDenied, "The holder of this key may not "+string(h.needs)+" in this workspace.")
	}
	switch {
	case err != nil && reading:
		return response{}, err
	case err != nil:
		return c.refuse(err)
	case reading:
		result, _, err := h.run(c)
		if err != nil {
			return response{}, err
		}
		body, err := encode(result)
		return response{body: body}, err
	case h.tool.Replays:
		return h.runIdempotent(c)
	}
	return h.change(c)
}

// change runs a tool that writes. What it wrote before it refused is undone.
func (h handler) change(c *call) (response, error) {
	if err := c.exec("SAVEPOINT tool"); err != nil {
		return response{}, err
	}
	result, kept, err := h.run(c)
	if _, refused := refusedWith(err); refused {
		if err := c.exec("ROLLBACK TO tool"); err != nil {
			return response{}, err
		}
		return c.refuse(err)
	}
	if err != nil {
		return response{}, err
	}
	if err := c.audit(kept); err != nil {
		return response{}, err
	}
	body, err := encode(result)
	return response{body: body}, err
}

// refuse makes the answer of a refusal and its audit row. Any other error passes.
func (c *call) refuse(err error) (response, error) {
	refused, ok := refusedWith(err)
	if !ok {
		return response{}, err
	}
	if err := c.audit(entry{outcome: "refused", code: refused.refusal.Code}); err != nil {
		return response{}, err
	}
	body, err := encode(refused.refusal)
	return response{body: body, refused: refused.refusal.Code, boundary: refused.boundary}, err
}

// audit writes what the call did, in the transaction of its effect.
func (c *call) audit(e entry) error {
	var workspace any
	if c.in.id != 0 {
		workspace = c.in.id
	}
	return c.exec("INSERT INTO audit (at, request_id, workspace_id, holder_id, key_id, tool, outcome, code, summary) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		c.now.UnixMilli(), c.request, workspace, c.who.holder, c.who.key, c.tool.Name, e.outcome, e.code, e.summary)
}

func encode(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(text, '\n'), err
}
