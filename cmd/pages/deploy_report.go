package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// reportCall prints what a confirmed call did. Only what the service says is served now is
// called live; what is scheduled is what the answer says is.
func (r *remote) reportCall(tool string, a client.Answer) error {
	if r.term.JSON {
		r.printAnswer(a.Body)
		return nil
	}
	switch tool {
	case r.contract.Publish.Name, r.contract.Rollback.Name:
		var p toolapi.Publish
		if err := json.Unmarshal(a.Body, &p); err != nil {
			return err
		}
		r.reportPublish(p)
	case r.contract.SchedulePublish.Name:
		var p toolapi.SchedulePublish
		if err := json.Unmarshal(a.Body, &p); err != nil {
			return err
		}
		r.reportSchedule(p)
	case r.contract.PointAtSite.Name, r.contract.Connect.Name:
		var p toolapi.Connect // which has all that the other has
		if err := json.Unmarshal(a.Body, &p); err != nil {
			return err
		}
		url := r.client.SiteURL(p.Hostname)
		r.term.Progress("%s points at %s", wording.Printable(p.Hostname), wording.Printable(p.SiteName))
		for _, record := range p.Records {
			r.term.Progress("set in DNS: %s", recordText(record))
		}
		if slices.ContainsFunc(p.Records, func(d toolapi.DNSRecord) bool { return d.Type == "TXT" }) {
			r.term.Progress("then prove that the domain is yours: pages domains verify %s", wording.Printable(p.Hostname))
		}
		r.term.Progress("%s", wording.Printable(deploy.Serving(url, p.Revision, p.ServingNow)))
		fmt.Fprintln(r.term.Stdout, url)
	default:
		r.printAnswer(a.Body)
	}
	return nil
}

// reportRepeated prints what a call did that was confirmed before, where something else
// is so now.
func (r *remote) reportRepeated(a client.Answer, now string) error {
	r.term.Progress("%s this was confirmed before, and was done once: %s", r.term.Paint("33", "note:"), wording.Printable(now))
	var said struct {
		Hostname string `json:"hostname"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return err
	}
	if r.term.JSON {
		r.printAnswer(a.Body)
	} else {
		fmt.Fprintln(r.term.Stdout, wording.Printable(r.client.SiteURL(said.Hostname)))
	}
	return nil
}

func (r *remote) reportPublish(p toolapi.Publish) {
	url := r.client.SiteURL(p.Hostname)
	r.term.Progress("%s", wording.Printable(deploy.Serving(url+" with revision "+p.Revision, &p.Revision, p.ServingNow)))
	fmt.Fprintln(r.term.Stdout, url)
}

func (r *remote) reportSchedule(p toolapi.SchedulePublish) {
	r.term.Progress("%s", scheduled(p))
	fmt.Fprintln(r.term.Stdout, wording.Printable(r.client.SiteURL(p.Hostname)))
}
