package service

import (
	"bytes"
	"encoding/json"

	"github.com/pages-toolchain/pages/toolapi"
)

// runIdempotent runs a tool that takes an idempotency key, unless the key was used: then it
// gives the first answer again. Writers come one after another, so a call never
// meets one with its key that is still under way.
func (h handler) runIdempotent(c *call) (response, error) {
	key := c.headerID
	if key == "" {
		key = c.body.String("idempotency_key")
	}
	asked, err := c.body.Fingerprint()
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
	case found && !bytes.Equal(first, asked):
		return c.refuse(refuseAt(
			toolapi.CodeIdempotencyReused, "This idempotency key was used with other arguments.", "idempotency_key",
			"send a key of its own with each change",
		))
	case found:
		return h.replayResponse(c, kept, refusal)
	}
	a, err := h.change(c)
	if err != nil || a.refused == toolapi.CodeInvalidArguments { // the caller mends those and sends the same key
		return a, err
	}
	return a, c.exec("INSERT OR REPLACE INTO answers (holder_id, workspace_id, tool, key, fingerprint, answer, "+
		"refusal, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		c.who.holder, c.in.id, c.tool.Name, key, asked, string(a.body), a.refused != "", c.now.UnixMilli())
}

// replayResponse gives a kept answer.
func (h handler) replayResponse(c *call, kept []byte, refusal bool) (response, error) {
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
