package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// This file takes a two-call tool from its proposal to its confirmation (platform
// document, section 3.3). The second call repeats the arguments of the first to the
// byte, so they are kept as they were sent.

// longestLife is as long as a proposal is taken to last, in seconds: a time.Duration holds it.
const longestLife = 1 << 30

// Proposal is a first call that waits for a person.
type Proposal struct {
	ID        string          `json:"confirmation_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // as they were sent, without the id
	Summary   string          `json:"request_summary"`
	Revision  string          `json:"revision,omitempty"` // that is to go live, if one is
	Workspace string          `json:"workspace"`
	BaseURL   string          `json:"base_url"`
	Proposed  time.Time       `json:"proposed_at"`
	Expires   time.Time       `json:"expires_at"`
}

// proposed are the fields that all answers of two-call tools share.
type proposed struct {
	toolapi.Proposal

	Workspace string `json:"workspace"`
	Revision  string `json:"revision"`
}

// Propose makes the first call of a two-call tool. An answer that is no proposal gives
// none.
func Propose(
	ctx context.Context, c *client.Client, tool string, arguments json.RawMessage, now time.Time,
) (*Proposal, client.Answer, error) {
	a, err := c.Do(ctx, client.Call{Tool: tool, Arguments: arguments, Whole: true})
	if err != nil {
		return nil, a, err
	}
	p, err := ProposalOf(c, tool, arguments, a, now)
	return p, a, err
}

// ProposalOf reads the proposal out of an answer; nil when it is none. When it expires is
// said by the service's clock, which may be another than this machine's: now is for an
// answer that does not tell it.
func ProposalOf(c *client.Client, tool string, arguments json.RawMessage, a client.Answer, now time.Time) (*Proposal, error) {
	var said proposed
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return nil, outsideContract(a, "does not hold what "+tool+" answers")
	}
	if said.State != toolapi.ConfirmationRequired {
		return nil, nil //nolint:nilnil // not every answer is a proposal
	}
	if !ValidID(said.ConfirmationID) || said.RequestSummary == "" { // the id becomes part of a command that people paste
		return nil, outsideContract(a, "is a proposal without an id or a summary")
	}
	if !a.At.IsZero() {
		now = a.At
	}
	return &Proposal{
		ID: said.ConfirmationID, Tool: tool, Arguments: arguments, Summary: said.RequestSummary,
		Revision: said.Revision, Workspace: said.Workspace, BaseURL: c.BaseURL(),
		Proposed: now, Expires: now.Add(time.Duration(min(max(said.ExpiresInSeconds, 0), longestLife)) * time.Second),
	}, nil
}

func outsideContract(a client.Answer, problem string) error {
	return &client.ContractError{Status: http.StatusOK, Problem: problem, RequestID: a.RequestID}
}

// Confirm makes the second call. The service performs it once, however often it is sent.
func (p *Proposal) Confirm(ctx context.Context, c *client.Client) (client.Answer, error) {
	arguments, err := withField(p.Arguments, "confirmation_id", p.ID)
	if err != nil {
		return client.Answer{}, err
	}
	a, err := c.Do(ctx, client.Call{Tool: p.Tool, Arguments: arguments, Whole: true})
	if err != nil {
		return a, err
	}
	if again, err := ProposalOf(c, p.Tool, p.Arguments, a, p.Proposed); err != nil || again != nil {
		return a, outsideContract(a, "is another proposal, and says nothing of what was confirmed")
	}
	return a, nil
}

// withField adds a field to an object, and leaves all others as they were written.
func withField(object json.RawMessage, name, value string) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(object) > 0 {
		if err := json.Unmarshal(object, &fields); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	fields[name] = text
	return json.Marshal(fields)
}

// ProposePublish proposes that the site serves a revision now. A page that shows
// another revision than base meanwhile is a *ConflictError, unless base is not given.
// A revision that is live already is no proposal, and no error.
func (d *Deployer) ProposePublish(ctx context.Context, revision string, base toolapi.BaseRevision) (*Proposal, error) {
	arguments, err := json.Marshal(toolapi.PublishArgs{SiteID: toolapi.UUID(d.Site), Revision: toolapi.Name(revision), Scope: d.scope()})
	if err != nil {
		return nil, err
	}
	p, a, err := Propose(ctx, d.Client, d.Contract.Publish.Name, arguments, d.Now())
	if refused, ok := errors.AsType[*client.RefusalError](err); ok && refused.Refusal.Code == toolapi.CodeRevisionLive {
		return nil, nil //nolint:nilnil // nothing is left to do
	}
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, outsideContract(a, "is no proposal")
	}
	var said toolapi.Publish
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return nil, outsideContract(a, "does not hold what page.publish answers")
	}
	if said.Revision != revision {
		return nil, outsideContract(a, "proposes another revision")
	}
	live := ""
	if said.Previous != nil {
		live = *said.Previous
	}
	if base.Given && live != base.Revision {
		return nil, &ConflictError{live}
	}
	return p, nil
}

// ProposeSchedule proposes that the newest revision, which must be this one, goes live
// at a time.
func (d *Deployer) ProposeSchedule(ctx context.Context, revision, at string) (*Proposal, error) {
	arguments, err := json.Marshal(toolapi.SchedulePublishArgs{At: toolapi.Timestamp(at), SiteID: toolapi.UUID(d.Site), Scope: d.scope()})
	if err != nil {
		return nil, err
	}
	p, a, err := Propose(ctx, d.Client, d.Contract.SchedulePublish.Name, arguments, d.Now())
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, outsideContract(a, "is no proposal")
	}
	var said toolapi.SchedulePublish
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return nil, outsideContract(a, "does not hold what page.schedule_publish answers")
	}
	if said.Revision != revision {
		return nil, &ConflictError{said.Revision}
	}
	return p, nil
}

// Stale reports whether a confirmation was refused because its target changed.
func Stale(err error) bool {
	refused, ok := errors.AsType[*client.RefusalError](err)
	return ok && refused.Refusal.Code == toolapi.CodeConfirmationStale
}

// NeedsMember reports whether a confirmation was refused because the key is a service
// account's.
func NeedsMember(err error) bool {
	refused, ok := errors.AsType[*client.RefusalError](err)
	return ok && refused.Refusal.Code == toolapi.CodeConfirmationNeedsMember
}

// Serving says what visitors find at an address (platform document, section 4.4). Only
// what is served now is called live. revision is nil for a page that was never
// published.
func Serving(address string, revision *string, now bool) string {
	switch {
	case now:
		return address + " is live"
	case revision == nil:
		return address + " is assigned, but nothing is served there: the page has never been published. Publish it with pages deploy"
	}
	return address +
		" is assigned, but nothing is served there yet: the name is not answering on the internet. The page itself is published"
}
