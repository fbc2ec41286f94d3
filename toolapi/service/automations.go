package service

import "github.com/pages-toolchain/pages/toolapi"

// board is an automation's draft: states in a line, and a position in it.
type board struct {
	id, name, status string
	revision         int64
	position, last   int64
	running          string
}

// board finds a board of the workspace. A given revision must match its draft.
func (c *call) board(id toolapi.Name, revision *toolapi.Counter) (b board, err error) {
	found, err := c.queryOne(`SELECT id, display_name, status, revision, position, running,
		(SELECT max(position) FROM board_states WHERE board_id = boards.id) FROM boards WHERE id = ? AND workspace_id = ?`,
		[]any{string(id), c.in.id}, &b.id, &b.name, &b.status, &b.revision, &b.position, &b.running, &b.last)
	switch {
	case err != nil:
		return b, err
	case !found:
		return b, refuseAt(toolapi.CodeBoardUnknown, "There is no such board in this workspace.", "board_id", "")
	case revision != nil && int64(*revision) != b.revision:
		return b, refuseAt(toolapi.CodeDraftMoved, "The draft has changed since that revision; nothing changed.", "revision",
			"read the draft again, or omit revision to start from its current state")
	}
	return b, nil
}

// move makes the state at a position the draft, as a new change.
func (c *call) move(b board, position int64) (toolapi.Draft, error) {
	b.revision++
	b.position = position
	b.last = max(b.last, position)
	err := c.exec("UPDATE boards SET revision = ?, position = ? WHERE id = ?", b.revision, b.position, b.id)
	return toolapi.Draft{
		BoardID: b.id, DisplayName: b.name, Status: b.status, Revision: toolapi.Counter(b.revision),
		CanUndo: b.position > 0, CanRedo: b.position < b.last,
	}, err
}

// undoDraft is automations.undo_draft (platform document, sections 3.3.1 and 4.6).
func (c *call) undoDraft(args toolapi.UndoDraftArgs) (toolapi.Draft, error) {
	b, err := c.board(args.BoardID, args.Revision)
	if err != nil {
		return toolapi.Draft{}, err
	}
	if b.position == 0 {
		return toolapi.Draft{}, refuse(toolapi.CodeNothingToUndo, "The draft has no earlier state.")
	}
	return c.move(b, b.position-1)
}

// redoDraft is automations.redo_draft.
func (c *call) redoDraft(args toolapi.UndoDraftArgs) (toolapi.Draft, error) {
	b, err := c.board(args.BoardID, args.Revision)
	if err != nil {
		return toolapi.Draft{}, err
	}
	if b.position == b.last {
		return toolapi.Draft{}, refuse(toolapi.CodeNothingToRedo, "No change of the draft was undone.")
	}
	return c.move(b, b.position+1)
}

// discardDraft is automations.discard_draft: the running version becomes the draft. The change can be undone.
func (c *call) discardDraft(args toolapi.DiscardDraftArgs) (toolapi.Draft, error) {
	b, err := c.board(args.BoardID, args.Revision)
	if err != nil {
		return toolapi.Draft{}, err
	}
	var state string
	_, err = c.queryOne("SELECT state FROM board_states WHERE board_id = ? AND position = ?", []any{b.id, b.position}, &state)
	if err != nil {
		return toolapi.Draft{}, err
	}
	if state == b.running {
		return toolapi.Draft{}, refuse(toolapi.CodeNothingToDiscard, "The draft is the running version.")
	}
	if err := c.exec("DELETE FROM board_states WHERE board_id = ? AND position > ?", b.id, b.position); err != nil {
		return toolapi.Draft{}, err
	}
	if err := c.exec("INSERT INTO board_states (board_id, position, state) VALUES (?, ?, ?)", b.id, b.position+1, b.running); err != nil {
		return toolapi.Draft{}, err
	}
	b.last = b.position + 1
	return c.move(b, b.last)
}
