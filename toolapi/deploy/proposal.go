package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// maxLife bounds the life of a proposal, in seconds, so that it fits a time.Duration.
const maxLife = 1 << 30

// Proposal is the first call of a two-call tool that waits for a person's confirmation (platform
// document, section 3.3). The second call repeats the arguments of the first to the byte.
type Proposal struct {
	ID        string          `json:"confirmation_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // as they were sent, without the id
	Summary   string          `json:"request_summary"`
	Revision  string          `json:"revision,omitempty"` // that will go live, if one does
	Workspace string          `json:"workspace"`
	BaseURL   string          `json:"base_url"`
	Proposed  time.Time       `json:"proposed_at"`
	Expires   time.Time       `json:"expires_at"`

	toolapi.Migrated // effect of Revision's migrations at the time of the proposal
}

// Propose makes the first call of a two-call tool. The Proposal is nil if the tool took effect at once.
func Propose(
	ctx context.Context, c *client.Client, tool string, arguments json.RawMessage, now time.Time,
) (*Proposal, client.Response, error) {
	a, err := c.Do(ctx, client.Call{Tool: tool, Arguments: arguments, Complete: true})
	if err != nil {
		return nil, a, err
	}
	p, err := ProposalOf(c, tool, arguments, a, now)
	return p, a, err
}

// ProposalOf reads the proposal from a response; nil for other responses. The proposal expires by
// the service's clock, which may differ from this machine's: now is for a response without the
// time.
func ProposalOf(c *client.Client, tool string, arguments json.RawMessage, resp client.Response, now time.Time) (*Proposal, error) {
	var p struct {
		toolapi.Proposal
		toolapi.Migrated

		Workspace string `json:"workspace"`
		Revision  string `json:"revision"`
	}
	if err := json.Unmarshal(resp.Body, &p); err != nil {
		return nil, contractError(resp, "is not a result of "+tool)
	}
	if p.State != toolapi.ConfirmationRequired {
		return nil, nil //nolint:nilnil // not every response is a proposal
	}
	if !ValidID(p.ConfirmationID) || p.RequestSummary == "" { // the id becomes part of a command that people paste
		return nil, contractError(resp, "is a proposal without an id or a summary")
	}
	if !resp.At.IsZero() {
		now = resp.At
	}
	return &Proposal{
		ID: p.ConfirmationID, Tool: tool, Arguments: arguments, Summary: p.RequestSummary,
		Revision: p.Revision, Workspace: p.Workspace, BaseURL: c.BaseURL(),
		Proposed: now, Expires: now.Add(time.Duration(min(max(p.ExpiresInSeconds, 0), maxLife)) * time.Second),
		Migrated: p.Migrated,
	}, nil
}

func contractError(resp client.Response, problem string) error {
	return &client.ContractError{Status: http.StatusOK, Problem: problem, RequestID: resp.RequestID}
}

// Confirm makes the second call. The service performs it once, even if it is sent repeatedly.
func (p *Proposal) Confirm(ctx context.Context, c *client.Client) (client.Response, error) {
	fields := map[string]json.RawMessage{} // others stay as they were written
	if len(p.Arguments) > 0 {
		if err := json.Unmarshal(p.Arguments, &fields); err != nil {
			return client.Response{}, err
		}
	}
	id, err := json.Marshal(p.ID)
	if err != nil {
		return client.Response{}, err
	}
	fields["confirmation_id"] = id
	arguments, err := json.Marshal(fields)
	if err != nil {
		return client.Response{}, err
	}
	a, err := c.Do(ctx, client.Call{Tool: p.Tool, Arguments: arguments, Complete: true})
	if err != nil {
		return a, err
	}
	if again, err := ProposalOf(c, p.Tool, p.Arguments, a, p.Proposed); err != nil || again != nil {
		return a, contractError(a, "is another proposal, and not the result of the confirmed one")
	}
	return a, nil
}

// ProposePublish proposes that the site serves a revision now. If the page serves another revision
// than a given base, the error is a *ConflictError. For a revision that is already live it returns
// nil, nil. A loss of data without permission is a *client.RefusalError.
func (d *Deployer) ProposePublish(
	ctx context.Context, revision string, base toolapi.BaseRevision, allowed toolapi.TableNames,
) (*Proposal, error) {
	arguments, err := json.Marshal(toolapi.PublishArgs{
		SiteID: toolapi.UUID(d.Site), Revision: toolapi.Name(revision), AllowDataLoss: allowed, Scope: d.scope(),
	})
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
		return nil, contractError(a, "is not a proposal")
	}
	var proposed toolapi.Publish
	if err := json.Unmarshal(a.Body, &proposed); err != nil {
		return nil, contractError(a, "is not a result of page.publish")
	}
	if proposed.Revision != revision {
		return nil, contractError(a, "proposes another revision")
	}
	live := ""
	if proposed.Previous != nil {
		live = *proposed.Previous
	}
	if base.Given && live != base.Revision {
		return nil, &ConflictError{live}
	}
	return p, nil
}

// ProposeSchedule proposes that the newest revision, which must be this one, goes live at a time.
func (d *Deployer) ProposeSchedule(ctx context.Context, revision, at string, allowed toolapi.TableNames) (*Proposal, error) {
	arguments, err := json.Marshal(toolapi.SchedulePublishArgs{
		At: toolapi.Timestamp(at), SiteID: toolapi.UUID(d.Site), AllowDataLoss: allowed, Scope: d.scope(),
	})
	if err != nil {
		return nil, err
	}
	p, a, err := Propose(ctx, d.Client, d.Contract.SchedulePublish.Name, arguments, d.Now())
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, contractError(a, "is not a proposal")
	}
	var proposed toolapi.SchedulePublish
	if err := json.Unmarshal(a.Body, &proposed); err != nil {
		return nil, contractError(a, "is not a result of page.schedule_publish")
	}
	if proposed.Revision != revision {
		return nil, &ConflictError{proposed.Revision}
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

// Serving describes the page that visitors find at an address (platform document, section 4.4). It writes
// "live" only for a revision that is served now. revision is nil for a page that was never published.
func Serving(address string, revision *string, now bool) string {
	switch {
	case now:
		return address + " is live"
	case revision == nil:
		return address + " is assigned, but serves nothing: the site has never been published. Publish it with pages deploy"
	}
	return address +
		" is assigned, but serves nothing yet: the name does not answer on the internet. The site itself is published"
}

// uuid is the shape of a confirmation id, and so of the name of a saved proposal.
var uuid = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
})

// ValidID reports whether a text has the shape of a confirmation id.
func ValidID(id string) bool { return uuid().MatchString(id) }

// keepExpired is the time for which an expired proposal is kept, so that the service can explain
// why it cannot be confirmed.
const keepExpired = 7 * 24 * time.Hour

// Save writes a proposal into a folder, for its owner alone, and removes old ones. The file
// holds no key.
func (p *Proposal) Save(dir string) error {
	if !ValidID(p.ID) {
		return fmt.Errorf("the confirmation id %q is not a UUID", p.ID)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	removeExpired(dir, p.Proposed)
	f, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, p.ID+".json"))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// LoadProposal reads a saved proposal by its id. Without one the error is fs.ErrNotExist.
func LoadProposal(dir, id string) (*Proposal, error) {
	if !ValidID(id) {
		return nil, fs.ErrNotExist
	}
	return ReadProposal(filepath.Join(dir, id+".json"))
}

// ReadProposal reads the file of a saved proposal.
func ReadProposal(file string) (*Proposal, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := &Proposal{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s is not a saved proposal: %w", file, err)
	}
	if !ValidID(p.ID) || p.Tool == "" {
		return nil, fmt.Errorf("%s is not a saved proposal", file)
	}
	return p, nil
}

func removeExpired(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir) // the next save tries again
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if id, ours := strings.CutSuffix(e.Name(), ".json"); !ours || !ValidID(id) || !e.Type().IsRegular() {
			continue
		}
		if old, err := ReadProposal(file); err == nil && now.Sub(old.Expires) > keepExpired {
			_ = os.Remove(file)
		}
	}
}
