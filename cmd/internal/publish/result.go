package publish

import (
	"context"
	"fmt"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// Result is the output of `pages deploy` and `pages preview` with --json.
type Result struct {
	OK         bool         `json:"ok"`
	State      string       `json:"state"` // done, unchanged, preview
	URL        string       `json:"url"`
	Revision   string       `json:"revision"`
	ServingNow *bool        `json:"serving_now,omitempty"`
	At         string       `json:"at,omitempty"`
	ID         string       `json:"id,omitempty"` // of a preview link
	ExpiresAt  string       `json:"expires_at,omitempty"`
	SiteID     string       `json:"site_id"`
	Workspace  string       `json:"workspace"`
	Plan       *deploy.Plan `json:"plan,omitempty"`
}

// printResult prints a result; on stdout its address, the time of a scheduled publish, or JSON.
func printResult(s *remote.Session, outcome string, r Result) {
	s.Term.Progress("%s", wording.Printable(outcome))
	if !s.Term.JSON {
		line := r.URL
		if r.At != "" { // the address does not show it yet
			line = r.At
		}
		fmt.Fprintln(s.Term.Stdout, wording.Printable(line))
		return
	}
	r.OK, r.SiteID, r.Workspace = true, s.Site, s.Workspace
	s.Term.PrintJSON(r)
}

// Preview creates a link that shows a revision, "" for the newest, and prints it.
func Preview(ctx context.Context, s *remote.Session, revision string, expires time.Duration) error {
	outcome, result, err := makePreview(ctx, s, revision, expires)
	if err == nil {
		printResult(s, outcome, result)
	}
	return err
}

func makePreview(ctx context.Context, s *remote.Session, revision string, expires time.Duration) (outcome string, r Result, err error) {
	made, err := s.Client.CreatePreviewLink(ctx, toolapi.PreviewLinkArgs{
		SiteID: toolapi.UUID(s.Site), Revision: toolapi.Name(revision), Scope: s.Scope(),
		ExpiresInSeconds: toolapi.PreviewSeconds(expires / time.Second),
	})
	if err != nil {
		return "", r, remote.CommandError(err)
	}
	outcome = fmt.Sprintf("everyone with the link sees revision %s until %s; end it with pages preview revoke %s",
		made.Revision, made.ExpiresAt, wording.ShellWord(made.ID))
	return outcome, Result{State: "preview", URL: made.URL, Revision: made.Revision, ID: made.ID, ExpiresAt: made.ExpiresAt}, nil
}

// CheckTime refuses an impossible time for a publish, before anything is built or sent. The service checks the time again, by its own
// clock.
func CheckTime(text string, now time.Time) error {
	at, ok := toolapi.Timestamp(text).Moment()
	if !ok {
		f := failure.Usage("--at is %q; it must be a time with its offset, such as %s",
			text, now.AddDate(0, 0, 1).Truncate(time.Hour).Format(time.RFC3339))
		for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04"} {
			if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil { // it lacks only the offset
				f.Fix = "by this machine's time zone that is --at " + at.Format(time.RFC3339)
			}
		}
		return f
	}
	soonest, latest := toolapi.ScheduleWindow(now)
	is := ""
	switch {
	case at.Before(now):
		is = "in the past"
	case at.Before(soonest):
		is = "too soon"
	case at.After(latest):
		is = "too far ahead"
	default:
		return nil
	}
	f := failure.Usage("--at is %q, which is %s: %s; a publish is scheduled from five minutes to one year ahead",
		text, at.Format(longTime), is)
	f.Fix = fmt.Sprintf(
		"it is %s now by this machine's clock: give a time from %s to %s, or deploy without --at to publish at once",
		now.Format(time.RFC3339),
		soonest.Truncate(time.Minute).Add(time.Minute).Format(time.RFC3339),
		latest.Truncate(time.Minute).Format(time.RFC3339),
	)
	return f
}
