package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// This file turns what a service refuses into what the command prints and ends with.

// said is what a service said of a refusal beside code, message and fix.
type said struct {
	Tool        string          `json:"tool,omitempty"`
	Path        string          `json:"path,omitempty"`
	Instruction string          `json:"instruction,omitempty"`
	Issues      []toolapi.Issue `json:"issues,omitempty"`
	Workspaces  []string        `json:"workspaces,omitempty"`
	Sites       []siteChoice    `json:"sites,omitempty"`
	RequestID   string          `json:"request_id,omitempty"`
	Status      int             `json:"http_status,omitempty"`
	RetryAfter  int             `json:"retry_after_seconds,omitempty"`

	// Of a proposal that waits for a person:
	State          string `json:"state,omitempty"`
	ConfirmationID string `json:"confirmation_id,omitempty"`
	Summary        string `json:"request_summary,omitempty"`
	Expires        string `json:"expires_at,omitempty"`
	Confirm        string `json:"confirm,omitempty"`           // the command that confirms it here
	Elsewhere      string `json:"confirm_elsewhere,omitempty"` // and on another machine
}

// siteChoice is a site that could have been meant.
type siteChoice struct {
	SiteID   string `json:"site_id"`
	Name     string `json:"name"`
	Hostname string `json:"hostname"`
}

// printSaid prints it for people. A terminal obeys none of it.
func (c *cli) printSaid(f *failure) {
	if f.said == nil {
		return
	}
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(c.stderr, "  %s %s\n", c.paint("36", label), printable(text))
		}
	}
	line("code:", f.id)
	line("tool:", f.said.Tool)
	if f.said.Status >= http.StatusBadRequest {
		line("status:", fmt.Sprintf("HTTP %d", f.said.Status))
	}
	line("at:", f.said.Path)
	for _, issue := range f.said.Issues {
		line("issue:", strings.TrimSpace(issue.Path+" "+issue.Message))
	}
	for _, slug := range f.said.Workspaces {
		line("workspace:", slug)
	}
	for _, s := range f.said.Sites {
		line("site:", fmt.Sprintf("%s  %s  %s", s.SiteID, s.Hostname, s.Name))
	}
	line("next:", f.said.Instruction)
	line("request:", f.said.RequestID)
}

// printOutstanding prints how what was proposed is confirmed.
func (c *cli) printOutstanding(f *failure) {
	fmt.Fprintf(c.stderr, "%s %s\n", c.paint("33;1", "proposed:"), f.said.Summary)
	fmt.Fprintf(c.stderr, "%s. To confirm it, run as a member, by %s:\n\n  %s\n\n", f.msg, f.said.Expires, c.paint("1", f.said.Confirm))
	fmt.Fprintf(c.stderr, "or on another machine:\n\n  %s\n", f.said.Elsewhere)
}

// remoteError gives an error of a call its exit code and remedy. Others pass.
func remoteError(err error) error {
	if err == nil || errors.As(err, new(*failure)) {
		return err
	}
	for _, known := range []func(error) *failure{unfinished, refusedCall, refusedStatus, noAnswer, refusedDeploy} {
		if f := known(err); f != nil {
			return f
		}
	}
	return err
}

// commandFixes are remedies in words of the commands, for refusals whose own speak of
// arguments of tools, or that have none.
var commandFixes = map[string]string{
	toolapi.CodeSchemaAhead:      "deploy a revision that has them, or add --force to pages rollback if its code works with them",
	toolapi.CodeMigrationFailed:  "correct the migration, and deploy again; visitors see what they saw before",
	toolapi.CodeWorkerFailed:     "correct the Worker, and deploy again; visitors see what they saw before",
	toolapi.CodeScheduleTooSoon:  "give a later time, or deploy without --at",
	toolapi.CodeRevisionUnknown:  "pages revisions lists what was live; pages deploy publishes what is here",
	toolapi.CodeRevisionNotFound: "pages revisions lists the revisions; pages deploy --preview makes one of what is here",
	toolapi.CodeSecretUnknown:    "pages secrets list names those that there are",
	toolapi.CodeDomainUnproven:   "set it where the domain's DNS is managed, and verify again: a change may take minutes to be seen, and an hour where there was another answer before",
	toolapi.CodeDomainTaken:      "pages domains list lists those of the workspace; pages domains point moves one",

	toolapi.CodeConfirmationUnknown: proposeAgain,
	toolapi.CodeConfirmationExpired: proposeAgain,
	toolapi.CodeConfirmationStale:   proposeAgain,
}

const proposeAgain = "run the command that proposed it again, such as pages deploy"

// commandError is remoteError for commands that are not about a tool by its name.
func commandError(err error) error {
	err = remoteError(err)
	if f, ok := errors.AsType[*failure](err); ok {
		f.fix = cmp.Or(commandFixes[f.id], f.fix)
	}
	return err
}

// refusedCall is a tool that refused.
func refusedCall(err error) *failure {
	e, ok := errors.AsType[*client.RefusalError](err)
	if !ok {
		return nil
	}
	r := e.Refusal
	f := &failure{code: exitTool, id: r.Code, msg: printable(r.Message), fix: printable(r.Fix), err: err, said: &said{
		Tool: e.Tool, Path: r.Path, Instruction: r.Instruction, Issues: r.Issues, Workspaces: r.Workspaces, RequestID: e.RequestID, Status: http.StatusOK,
	}}
	if r.Code == toolapi.CodeWorkspaceAmbiguous {
		f.code = exitPerson
	}
	if len(r.Workspaces) > 0 {
		f.fix = "choose one: --workspace SLUG, or PAGES_WORKSPACE"
	}
	return f
}

// refusedStatus is a request that was refused by its status.
func refusedStatus(err error) *failure {
	e, ok := errors.AsType[*client.StatusError](err)
	if !ok {
		return nil
	}
	f := &failure{code: exitRefused, id: e.Code, msg: printable(cmp.Or(e.Message, e.Error())), err: err, said: &said{RequestID: e.RequestID, Status: e.Status, RetryAfter: e.RetryAfter}}
	switch {
	case e.Status == http.StatusUnauthorized:
		f.code, f.fix = exitAccess, "check the key: PAGES_API_KEY, --api-key-file, or pages login"
	case e.Status == http.StatusNotFound && e.Code == toolapi.CodeNotFound:
		f.fix = "check PAGES_BASE_URL, which has nothing of /api/v1 and what follows; pages tools lists what the service has"
	case e.Status == http.StatusForbidden:
		f.code, f.fix = exitAccess, "the key is good, and the API is closed to it: ask an owner of the workspace"
	case e.Status == http.StatusTooManyRequests:
		f.code, f.fix = exitRate, "wait a minute, or use another key"
		if e.RetryAfter > 60 {
			f.fix = fmt.Sprintf("wait %d s, or use another key", e.RetryAfter)
		}
	case e.Code == toolapi.CodeUploadExpired, e.Code == toolapi.CodeUploadNotFound:
		f.fix = "run the same command again: it declares the files anew, and sends what is missing"
	case e.Code == toolapi.CodeTooManyUploads:
		f.fix = "let another deploy end, or end one: pages revisions uploads lists them"
	case e.Code == toolapi.CodeTooManyPreviews:
		f.fix = "end one with pages preview revoke ID; --expires makes links that end sooner"
	case e.Code == toolapi.CodeFileCount, e.Code == toolapi.CodeFileTooLarge, e.Code == toolapi.CodeBundleTooLarge:
		f.fix = "leave out what visitors do not need (.assetsignore), or serve it from storage"
	case e.Code == toolapi.CodeStorageFull:
		f.code, f.fix = exitNetwork, "whoever runs the service must make room on its disk; then run the same command again"
	case e.Temporary(), e.Status >= http.StatusInternalServerError:
		f.code, f.fix = exitNetwork, "try again"
	}
	if f.id == "" {
		f.id = fmt.Sprintf("http-%d", e.Status)
	}
	return f
}

// noAnswer is a request that got none, or one that is not the contract's.
func noAnswer(err error) *failure {
	if e, ok := errors.AsType[*client.TransportError](err); ok {
		f := &failure{code: exitNetwork, id: "no-answer", msg: printable(e.Error()), fix: "check the address (PAGES_BASE_URL) and the network, and try again", err: err, said: &said{RequestID: e.RequestID}}
		switch {
		case errors.Is(err, http.ErrSchemeMismatch):
			f.msg = "the service does not answer: http is spoken there, and not https"
			f.fix = "check the port of the address (PAGES_BASE_URL); that of a service on this machine begins with http://"
		case e.Untrusted():
			f.fix = "check the address (PAGES_BASE_URL) and this machine's clock; where a certificate authority of your own signs, name its certificate's file in SSL_CERT_FILE"
		}
		return f
	}
	if e, ok := errors.AsType[*client.ContractError](err); ok {
		return &failure{code: exitNetwork, id: "not-the-contract", msg: printable(e.Error()), fix: "check PAGES_BASE_URL", err: err, said: &said{RequestID: e.RequestID, Status: e.Status}}
	}
	if e, ok := errors.AsType[*client.AddressError](err); ok {
		return &failure{code: exitUsage, id: "bad-address", msg: e.Error(), fix: e.Fix, err: err}
	}
	return nil
}

// unfinished is a deploy that goes on when it is run again.
func unfinished(err error) *failure {
	e, ok := errors.AsType[*deploy.UnfinishedError](err)
	if !ok {
		return nil
	}
	f := &failure{code: exitResume, id: "unfinished", msg: printable(e.Error()), fix: "run the same command again: it sends what is missing", err: err}
	if status := refusedStatus(err); status != nil {
		f.said = status.said
	} else if lost := noAnswer(err); lost != nil {
		f.said = lost.said
	}
	return f
}

// refusedDeploy is a deploy that must not go on.
func refusedDeploy(err error) *failure {
	if e, ok := errors.AsType[*deploy.ChangedError](err); ok {
		return &failure{code: exitRefused, id: toolapi.CodeFileChanged, msg: e.Error(), fix: "let the build finish, and deploy again", err: err}
	}
	if e, ok := errors.AsType[*deploy.ConflictError](err); ok {
		return &failure{code: exitRefused, id: toolapi.CodeRevisionConflict, msg: printable(e.Error()), fix: "look at it with pages deploy --plan, and deploy again; --force leaves the check out", err: err}
	}
	e, ok := errors.AsType[*deploy.UnknownSiteError](err)
	if !ok {
		return nil
	}
	f := &failure{code: exitRefused, id: "site-unknown", msg: e.Error(), fix: "name one of these with --site or PAGES_SITE, or make one with pages deploy --create NAME", err: err, said: &said{}}
	if e.Name == "" {
		f.code, f.id = exitPerson, "site-not-chosen"
	}
	for _, p := range e.Pages {
		f.said.Sites = append(f.said.Sites, siteChoice{p.SiteID, p.Name, p.Hostname})
	}
	if len(e.Pages) == 0 {
		f.fix = "make one: pages deploy --create NAME"
	}
	return f
}
