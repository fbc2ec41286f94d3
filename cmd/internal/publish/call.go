package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// CallOptions are the options of `pages call`.
type CallOptions struct {
	Tool           string
	Words          []string // KEY=VALUE
	Body           string   // print JSON, or its position, instead of sentences
	IdempotencyKey string
}

// Call calls a tool and prints its response. If the call needs consent, it asks a person.
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
	var resp client.Response
	err = s.InWorkspace(ctx, func() error {
		if arguments, err = toolcall.WithWorkspace(arguments, s.Workspace); err != nil {
			return err
		}
		resp, err = s.Client.Do(ctx, client.Call{
			Tool: o.Tool, Arguments: arguments, IdempotencyKey: o.IdempotencyKey, Replays: info.Replays,
		})
		return err
	})
	if err != nil {
		return err
	}
	if !info.TwoCalls || toolcall.HasField(arguments, "confirmation_id") {
		toolcall.PrintResponse(t, resp.Body)
		return nil
	}
	proposal, err := deploy.ProposalOf(s.Client, o.Tool, arguments, resp, t.Now())
	switch {
	case err != nil:
		return remote.Error(err)
	case proposal == nil:
		toolcall.PrintResponse(t, resp.Body)
		return nil
	}
	done, err := p.decide(ctx, proposal)
	if err != nil {
		if f, ok := errors.AsType[*failure.Error](err); ok && f.Code == CodeOutstanding {
			toolcall.PrintResponse(t, resp.Body)
			if t.JSON {
				return failure.StatusError(f.Exit) // the response is the document
			}
		}
		return err
	}
	toolcall.PrintResponse(t, done.Body)
	return nil
}

// reportCall prints the result of a confirmed call. It reports a revision as live only if the service says so now, and as scheduled
// only if the response does.
func (p *Proposer) reportCall(tool string, resp client.Response) error {
	s, t := p.Session, p.Session.Term
	if t.JSON {
		toolcall.PrintResponse(t, resp.Body)
		return nil
	}
	switch tool {
	case s.Contract.Publish.Name, s.Contract.Rollback.Name:
		var done toolapi.Publish
		if err := json.Unmarshal(resp.Body, &done); err != nil {
			return err
		}
		url := s.Client.SiteURL(done.Hostname)
		t.Progress("%s", wording.Printable(deploy.Serving(url+" with revision "+done.Revision, &done.Revision, done.ServingNow)))
		fmt.Fprintln(t.Stdout, url)
	case s.Contract.RestoreData.Name:
		return p.reportRestore(resp.Body)
	case s.Contract.SchedulePublish.Name:
		var done toolapi.SchedulePublish
		if err := json.Unmarshal(resp.Body, &done); err != nil {
			return err
		}
		t.Progress("%s", wording.Printable(p.scheduleNote(done)))
		fmt.Fprintln(t.Stdout, wording.Printable(done.At))
	case s.Contract.PointAtSite.Name, s.Contract.Connect.Name:
		var done toolapi.Connect // which includes the other
		if err := json.Unmarshal(resp.Body, &done); err != nil {
			return err
		}
		url := s.Client.SiteURL(done.Hostname)
		t.Progress("%s points at %s", wording.Printable(done.Hostname), wording.Printable(done.SiteName))
		for _, record := range done.Records {
			t.Progress("set in DNS: %s", RecordText(record))
		}
		if slices.ContainsFunc(done.Records, func(d toolapi.DNSRecord) bool { return d.Type == "TXT" }) {
			t.Progress("then prove that the domain is yours: pages domains verify %s", wording.Printable(done.Hostname))
		}
		t.Progress("%s", wording.Printable(deploy.Serving(url, done.Revision, done.ServingNow)))
		fmt.Fprintln(t.Stdout, url)
	default:
		toolcall.PrintResponse(t, resp.Body)
	}
	return nil
}

// Domains lists the domains of the workspace.
func Domains(ctx context.Context, s *remote.Session) (list toolapi.DomainList, err error) {
	err = s.InWorkspace(ctx, func() error {
		list, err = client.Run(ctx, s.Client, s.Contract.DomainList, toolapi.NoArgs{Scope: s.Scope()})
		return err
	})
	return list, err
}

// FindDomain finds a domain of the workspace by its name or id.
func FindDomain(ctx context.Context, s *remote.Session, named string) (toolapi.Domain, error) {
	list, err := Domains(ctx, s)
	if err != nil {
		return toolapi.Domain{}, err
	}
	i := slices.IndexFunc(list.Domains, func(d toolapi.Domain) bool {
		return strings.EqualFold(d.Hostname, named) || strings.EqualFold(d.DomainID, named)
	})
	if i < 0 {
		return toolapi.Domain{}, &failure.Error{
			Exit: failure.ExitRefused, Code: "domain-unknown",
			Message: fmt.Sprintf("there is no domain %q in the workspace %q", named, list.Workspace),
			Fix:     "pages domains list shows them",
		}
	}
	return list.Domains[i], nil
}

// RecordText returns a DNS record in the form in which people enter it.
func RecordText(d toolapi.DNSRecord) string {
	return fmt.Sprintf("%s %s %s", wording.Printable(d.Name), wording.Printable(d.Type), wording.Printable(d.Value))
}
