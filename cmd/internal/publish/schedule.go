package publish

import (
	"context"
	"fmt"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// Unschedule cancels the scheduled publish of the session's site, and prints its revision.
func Unschedule(ctx context.Context, s *remote.Session) error {
	done, err := client.Run(ctx, s.Client, s.Contract.Unschedule, toolapi.UnscheduleArgs{SiteID: toolapi.UUID(s.Site), Scope: s.Scope()})
	if err != nil {
		return remote.CommandError(err)
	}
	if s.Term.JSON {
		s.Term.PrintJSON(done)
		return nil
	}
	s.Term.Progress("canceled: revision %s does not go live on %s; the live revision stays",
		wording.Printable(done.Revision), wording.Printable(momentText(done.At)))
	return nil
}

// longTime is the layout of a time for people, with its offset.
const longTime = "Monday 2 January 2006, 15:04 (UTC-07:00)"

// momentText formats a time of a response for people, and returns any other text unchanged.
func momentText(at string) string {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return at
	}
	return t.Format(longTime)
}

// scheduleNote describes in a sentence the schedule of the response, and the command that cancels it.
func (p *Proposer) scheduleNote(done toolapi.SchedulePublish) string {
	instead := ""
	if done.Replaced {
		instead = ", instead of the revision scheduled before"
	}
	return fmt.Sprintf("revision %s is scheduled for %s%s; until then the site stays as it is. Cancel it with %s",
		done.Revision, momentText(done.At), instead, p.namingSite("pages unschedule"))
}
