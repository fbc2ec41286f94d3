package publish

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// reportCall prints what a confirmed call did. Only what the service says is served now is called live; what is scheduled is what the
// answer says is.
func (p *Proposer) reportCall(tool string, a client.Answer) error {
	s, t := p.Session, p.Session.Term
	if t.JSON {
		toolcall.PrintAnswer(t, a.Body)
		return nil
	}
	switch tool {
	case s.Contract.Publish.Name, s.Contract.Rollback.Name:
		var done toolapi.Publish
		if err := json.Unmarshal(a.Body, &done); err != nil {
			return err
		}
		url := s.Client.SiteURL(done.Hostname)
		t.Progress("%s", wording.Printable(deploy.Serving(url+" with revision "+done.Revision, &done.Revision, done.ServingNow)))
		fmt.Fprintln(t.Stdout, url)
	case s.Contract.SchedulePublish.Name:
		var done toolapi.SchedulePublish
		if err := json.Unmarshal(a.Body, &done); err != nil {
			return err
		}
		t.Progress("%s", scheduleNote(done))
		fmt.Fprintln(t.Stdout, wording.Printable(s.Client.SiteURL(done.Hostname)))
	case s.Contract.PointAtSite.Name, s.Contract.Connect.Name:
		var done toolapi.Connect // which has all that the other has
		if err := json.Unmarshal(a.Body, &done); err != nil {
			return err
		}
		p.reportDomain(done)
	default:
		toolcall.PrintAnswer(t, a.Body)
	}
	return nil
}

func (p *Proposer) reportDomain(done toolapi.Connect) {
	t, url := p.Session.Term, p.Session.Client.SiteURL(done.Hostname)
	t.Progress("%s points at %s", wording.Printable(done.Hostname), wording.Printable(done.SiteName))
	for _, record := range done.Records {
		t.Progress("set in DNS: %s", RecordText(record))
	}
	if slices.ContainsFunc(done.Records, func(d toolapi.DNSRecord) bool { return d.Type == "TXT" }) {
		t.Progress("then prove that the domain is yours: pages domains verify %s", wording.Printable(done.Hostname))
	}
	t.Progress("%s", wording.Printable(deploy.Serving(url, done.Revision, done.ServingNow)))
	fmt.Fprintln(t.Stdout, url)
}

// longTime is the layout of a moment for people, with its offset.
const longTime = "Monday 2 January 2006, 15:04 (UTC-07:00)"

// scheduleNote words a schedule, as the answer has it.
func scheduleNote(p toolapi.SchedulePublish) string {
	at := p.At
	if t, err := time.Parse(time.RFC3339Nano, p.At); err == nil {
		at = t.Format(longTime)
	}
	if p.Replaced {
		return fmt.Sprintf("revision %s is scheduled for %s, instead of what was scheduled before", p.Revision, at)
	}
	return fmt.Sprintf("revision %s is scheduled for %s", p.Revision, at)
}

// reportRepeated prints what a call did that was confirmed before, where something else is so now.
func (p *Proposer) reportRepeated(a client.Answer, now string) error {
	t := p.Session.Term
	t.Progress("%s this was confirmed before, and was done once: %s", t.Paint("33", "note:"), wording.Printable(now))
	var said struct {
		Hostname string `json:"hostname"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return err
	}
	if t.JSON {
		toolcall.PrintAnswer(t, a.Body)
	} else {
		fmt.Fprintln(t.Stdout, wording.Printable(p.Session.Client.SiteURL(said.Hostname)))
	}
	return nil
}
