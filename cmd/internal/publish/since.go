package publish

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// This file is about confirmations that are repeated. Their answer is that of the first one, and says what was so then.

// lookTimeout is how long a confirmation waits for a look at what is live.
const lookTimeout = 5 * time.Second

// changedSince says what has become of a confirmed call meanwhile, in a sentence; "" when all is as the answer says, or the service
// could not be asked.
func (p *Proposer) changedSince(ctx context.Context, tool string, a client.Answer) string {
	s := p.Session
	var said struct {
		Workspace string `json:"workspace"`
		SiteID    string `json:"site_id"`
		Hostname  string `json:"hostname"`
		Revision  string `json:"revision"`
		At        string `json:"at"`
	}
	if json.Unmarshal(a.Body, &said) != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	scope := toolapi.Scope{Workspace: toolapi.Slug(said.Workspace)}
	switch tool {
	case s.Contract.Publish.Name, s.Contract.Rollback.Name, s.Contract.SchedulePublish.Name:
		list, err := deploy.Pages(ctx, s.Client, s.Contract, said.Workspace)
		if err != nil {
			return ""
		}
		page, err := deploy.FindPage(list, said.SiteID)
		if err != nil {
			return "the page is not there any more"
		}
		if tool == s.Contract.SchedulePublish.Name {
			return scheduleSince(page, said.Revision, said.At)
		}
		return publishSince(page, said.Revision)
	case s.Contract.PointAtSite.Name, s.Contract.Connect.Name:
		list, err := client.Run(ctx, s.Client, s.Contract.DomainList, toolapi.NoArgs{Scope: scope})
		if err != nil {
			return ""
		}
		i := slices.IndexFunc(list.Domains, func(d toolapi.Domain) bool { return d.Hostname == said.Hostname })
		switch {
		case i < 0:
			return said.Hostname + " is not a domain of the workspace any more"
		case list.Domains[i].SiteID != said.SiteID:
			return said.Hostname + " points at " + list.Domains[i].SiteName + " now"
		}
	}
	return ""
}

func publishSince(page toolapi.Page, revision string) string {
	switch {
	case page.LiveRevision == nil:
		return "nothing is published there now"
	case *page.LiveRevision != revision:
		return fmt.Sprintf("revision %s is published there now, and not %s", *page.LiveRevision, revision)
	}
	return ""
}

func scheduleSince(page toolapi.Page, revision, at string) string {
	switch {
	case page.Schedule != nil && page.Schedule.Revision == revision && sameMoment(page.Schedule.At, at):
		return ""
	case page.Schedule != nil:
		return fmt.Sprintf("revision %s is scheduled for %s now", page.Schedule.Revision, page.Schedule.At)
	case page.LiveRevision != nil && *page.LiveRevision == revision:
		return fmt.Sprintf("nothing is scheduled any more: revision %s is published", revision)
	}
	return "nothing is scheduled any more"
}

// sameMoment compares timestamps, which may be written with different offsets.
func sameMoment(a, b string) bool {
	x, errX := time.Parse(time.RFC3339Nano, a)
	y, errY := time.Parse(time.RFC3339Nano, b)
	return errX == nil && errY == nil && x.Equal(y)
}
