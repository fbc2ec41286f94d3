package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file runs the tool of a call that the boundary admitted. A tool that writes runs in one transaction with the check of the
// caller, the audit row and the response stored for a retry; one that reads sees one snapshot of the database.

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
	proven   bool  // DNS has the proof for the domain of domain.verify

	who identity
	in  membership
	as  toolapi.WorkingIn

	rehearsed *rehearsed       // of the revision that the call proposes; nil for none
	migrated  toolapi.Migrated // of the revision that the call makes live
	agreed    approval         // of the proposal that the call confirms

	points   RestorePoints // of the site whose data the call lists or puts back
	restored *Restored     // by the release that the call makes live; nil for none

	after []func() // run after the commit
}

// response is the body of a successful HTTP response.
type response struct {
	body []byte
	// refused is the code of a refusal; "" for a result.
	refused string
	// boundary is set for a refusal while resolving the workspace.
	boundary bool
}

// entry is the audit trail's record of a call.
type entry struct{ outcome, code, summary string }

// handler is a tool bound to its code.
type handler struct {
	tool  *toolapi.Tool
	needs permission
	run   func(*call) (any, entry, error)
	// replay turns a stored response into the response to a retry; nil for tools that store none.
	replay func([]byte) ([]byte, error)
	// prepare does the long work, outside of the transaction; nil for none.
	prepare func(context.Context, *call) error
	// plannedRelease returns the release of a confirming call, and the approved losses; nil for a tool without releases.
	plannedRelease func(*call) (releaseChange, approval, error)
	// plannedRehearsal returns the revision of a proposing call. migrates reports whether the tool can have one.
	plannedRehearsal func(*call) (plannedRehearsal, error)
	migrates         bool
}

// workspaceResult is a pointer to a result, which names the workspace.
type workspaceResult[R any] interface {
	*R
	Fill(toolapi.WorkingIn)
}

// bindTool binds a tool that takes one call.
func bindTool[A, R any, P workspaceResult[R]](t toolapi.Typed[A, R], needs permission, run func(*call, A) (R, error)) handler {
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

// replayedResult is a pointer to a result that marks a repetition.
type replayedResult[R any] interface {
	workspaceResult[R]
	Replay()
}

// bindReplayed binds a tool whose response is stored for retries.
func bindReplayed[A, R any, P replayedResult[R]](t toolapi.Typed[A, R], needs permission, run func(*call, A) (R, error)) handler {
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

// dispatch runs the tool. An error is a *toolapi.Error, or a failure of the service itself.
func (h handler) dispatch(ctx context.Context, c *call) (a response, err error) {
	issues := c.body.Check(c.tool)
	if c.tool.Replays && c.headerID == "" && !c.body.Has("idempotency_key") {
		issues = append(issues, toolapi.Issue{
			Path: "idempotency_key", Message: "is required: send the Idempotency-Key header, or over MCP this argument",
		})
	}
	if len(issues) > 0 {
		return h.auditRefusal(ctx, c, invalid(issues...))
	}
	if h.tool.Effect != toolapi.Reads {
		return h.commit(ctx, c)
	}
	if h.prepare != nil {
		if err := h.prepare(ctx, c); err != nil {
			if _, refused := refusedWith(err); refused {
				return h.auditRefusal(ctx, c, err)
			}
			return response{}, err
		}
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

// commit runs a tool that writes. A proposal whose subject changed while it was rehearsed is rehearsed again.
func (h handler) commit(ctx context.Context, c *call) (a response, err error) {
	const tries = 5
	for range tries {
		if a, err = h.commitOnce(ctx, c); !errors.Is(err, errPlanChanged) {
			return a, err
		}
	}
	return h.auditRefusal(ctx, c, refuse(toolapi.CodeConfirmationStale,
		"The live revision changed during each rehearsal of the migrations; nothing was proposed. Propose again."))
}

// commitOnce runs a tool that writes. It prepares a release before, and shows it afterwards.
func (h handler) commitOnce(ctx context.Context, c *call) (a response, err error) {
	if h.prepare != nil {
		err = h.prepare(ctx, c)
	}
	if err == nil {
		err = h.rehearse(ctx, c)
	}
	var next *preparedRelease
	if err == nil {
		next, err = h.prepareRelease(ctx, c)
	}
	if _, refused := refusedWith(err); refused {
		return h.auditRefusal(ctx, c, err)
	}
	if err != nil {
		return response{}, err
	}
	c.migrated, c.restored = next.migrated(), next.restored()
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

// auditRefusal writes the audit row of a call that a reading tool refused.
func (h handler) auditRefusal(ctx context.Context, c *call, refusal error) (a response, err error) {
	err = c.service.db.write(ctx, func(t tx) error {
		if err := c.enter(t); err != nil {
			return err
		}
		if c.in.id == 0 { // the arguments were checked before the workspace
			c.in, _, _ = c.who.resolve(c.body.String("workspace")) // after a failure the row has no workspace
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

// authorize enters the transaction and the workspace of the call. It refuses a holder who lacks a permission there.
func (c *call) authorize(t tx, needs permission) error {
	if err := c.enter(t); err != nil {
		return err
	}
	in, source, err := c.who.resolve(c.body.String("workspace"))
	c.in, c.as = in, workingIn(in, source)
	if err == nil && !roleAllows(in.role, needs) {
		err = refuse(toolapi.CodePermissionDenied, "The holder of this key may not "+string(needs)+" in this workspace.")
	}
	return err
}

// lookAhead runs do in a read transaction before the call's own, which repeats its checks.
func (c *call) lookAhead(ctx context.Context, needs permission, do func() error) error {
	return c.service.db.read(ctx, func(t tx) error {
		err := c.authorize(t, needs)
		if err == nil {
			err = do()
		}
		if _, refused := refusedWith(err); refused {
			return nil
		}
		return err
	})
}

// runInTransaction runs the tool in its transaction. A refusal of a reading tool is the error.
func (h handler) runInTransaction(c *call, t tx) (response, error) {
	err := c.authorize(t, h.needs)
	switch {
	case h.tool.Effect == toolapi.Reads:
		if err != nil {
			return response{}, err
		}
		result, _, err := h.run(c)
		if err != nil {
			return response{}, err
		}
		body, err := encode(result)
		return response{body: body}, err
	case err != nil:
		return c.refuse(err)
	case h.tool.Replays:
		return h.runIdempotent(c)
	}
	return h.change(c)
}

// runIdempotent runs a tool that takes an idempotency key, or repeats the response of the call that used the key first.
// Writers are serialized: no other call with the same key is in progress.
func (h handler) runIdempotent(c *call) (response, error) {
	key := c.headerID
	if key == "" {
		key = c.body.String("idempotency_key")
	}
	fingerprint, err := c.body.Fingerprint()
	if err != nil {
		return response{}, err
	}
	var first, kept []byte
	var refusal bool
	found, err := c.queryOne("SELECT fingerprint, answer, refusal FROM answers WHERE holder_id = ? AND workspace_id = "+
		"? AND tool = ? AND key = ? AND created_at > ?",
		[]any{c.who.holder, c.in.id, c.tool.Name, key, c.now.Add(-answerLife).UnixMilli()}, &first, &kept, &refusal)
	switch {
	case err != nil:
		return response{}, err
	case found && !bytes.Equal(first, fingerprint):
		return c.refuse(refuseAt(
			toolapi.CodeIdempotencyReused, "This idempotency key was used with other arguments.", "idempotency_key",
			"send a new key with each change",
		))
	case found:
		if err := c.audit(entry{outcome: "repeated"}); err != nil {
			return response{}, err
		}
		if refusal {
			var first toolapi.ToolRefusal
			err := json.Unmarshal(kept, &first)
			return response{body: kept, refused: first.Code}, err
		}
		body, err := h.replay(kept)
		return response{body: body}, err
	}
	a, err := h.change(c)
	if err != nil || a.refused == toolapi.CodeInvalidArguments { // the caller fixes these and reuses the key
		return a, err
	}
	return a, c.exec("INSERT OR REPLACE INTO answers (holder_id, workspace_id, tool, key, fingerprint, answer, "+
		"refusal, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		c.who.holder, c.in.id, c.tool.Name, key, fingerprint, string(a.body), a.refused != "", c.now.UnixMilli())
}

// change runs a tool that writes. A refusal undoes its writes.
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

// refuse makes the response of a refusal and its audit row. It returns other errors unchanged.
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

// audit adds the call to the audit trail, in the transaction of its effect.
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

// refusalError is the refusal of a tool.
type refusalError struct {
	refusal toolapi.ToolRefusal
	// boundary is set when resolving the workspace failed: the tool did not run.
	boundary bool
}

func (e *refusalError) Error() string { return e.refusal.Code + ": " + e.refusal.Message }

func refuse(code, message string) error {
	return &refusalError{refusal: toolapi.ToolRefusal{Code: code, Message: message}}
}

// refuseAt is refuse for an argument, at path; fix names a valid value.
func refuseAt(code, message, path, fix string) error {
	return &refusalError{refusal: toolapi.ToolRefusal{Code: code, Message: message, Path: path, Fix: fix}}
}

func invalid(issues ...toolapi.Issue) error {
	return &refusalError{refusal: toolapi.ToolRefusal{
		Code: toolapi.CodeInvalidArguments, Message: "The arguments are not valid; nothing ran.", Issues: issues,
	}}
}

func refusedWith(err error) (*refusalError, bool) { return errors.AsType[*refusalError](err) }
