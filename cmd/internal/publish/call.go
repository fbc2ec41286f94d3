package publish

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// CallOptions are those of `pages call`.
type CallOptions struct {
	Tool           string
	Words          []string // KEY=VALUE
	Body           string   // JSON, or the place of it, instead of words
	IdempotencyKey string
}

// Call calls a tool and prints its answer. What needs a person's go-ahead is taken to one.
func (p *Proposer) Call(ctx context.Context, o CallOptions) error {
	s, t := p.Session, p.Session.Term
	info, err := toolcall.Find(ctx, s, o.Tool)
	if err != nil {
		return err
	}
	arguments, err := toolcall.Arguments(ctx, t, o.Body, o.Words, info)
	if err != nil {
		return err
	}
	a, arguments, err := p.call(ctx, o, info, arguments)
	if err != nil {
		return err
	}
	if !info.TwoCalls || toolcall.HasField(arguments, "confirmation_id") {
		toolcall.PrintAnswer(t, a.Body)
		return nil
	}
	proposal, err := deploy.ProposalOf(s.Client, o.Tool, arguments, a, t.Now())
	switch {
	case err != nil:
		return remote.Error(err)
	case proposal == nil:
		toolcall.PrintAnswer(t, a.Body)
		return nil
	}
	done, err := p.decide(ctx, proposal)
	if err != nil {
		if f, ok := errors.AsType[*failure.Error](err); ok && f.Code == CodeOutstanding {
			toolcall.PrintAnswer(t, a.Body)
			if t.JSON {
				return failure.StatusError(f.Exit) // the answer is the document
			}
		}
		return err
	}
	toolcall.PrintAnswer(t, done.Body)
	return nil
}

// call makes the first call, in a workspace that a person may have to choose.
func (p *Proposer) call(
	ctx context.Context,
	o CallOptions,
	info client.ToolInfo,
	arguments json.RawMessage,
) (a client.Answer, sent json.RawMessage, err error) {
	s := p.Session
	err = s.InWorkspace(ctx, func() error {
		arguments, err = toolcall.WithWorkspace(arguments, s.Workspace)
		if err != nil {
			return err
		}
		a, err = s.Client.Do(ctx, client.Call{Tool: o.Tool, Arguments: arguments, IdempotencyKey: o.IdempotencyKey, Replays: info.Replays})
		return err
	})
	return a, arguments, err
}
