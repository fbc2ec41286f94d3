package remote

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// Error gives an error of a call its exit code and fix. It returns other errors unchanged.
func Error(err error) error {
	if err == nil || errors.As(err, new(*failure.Error)) {
		return err
	}
	if e, ok := errors.AsType[*deploy.UnfinishedError](err); ok {
		f := &failure.Error{
			Exit: failure.ExitResume, Code: "unfinished", Message: wording.Printable(e.Error()),
			Fix: "run the same command again: it sends the missing files", Err: err,
		}
		if cause := cmp.Or(refusedStatus(err), noResponse(err)); cause != nil {
			f.Detail = cause.Detail
		}
		return f
	}
	if e, ok := errors.AsType[*client.RefusalError](err); ok {
		return refusedCall(e, err)
	}
	for _, convert := range []func(error) *failure.Error{refusedStatus, noResponse, refusedDeploy} {
		if f := convert(err); f != nil {
			return f
		}
	}
	return err
}

// commandFixes are fixes in terms of commands, for refusals that have none, or whose own fix names arguments of tools.
var commandFixes = map[string]string{
	toolapi.CodeSchemaAhead: "pages restore --before REVISION brings back code and data from then (pages restore --list shows the " +
		"points); or deploy a revision that has them, or add --force to pages rollback if its code works with them",
	toolapi.CodeRestorePointUnknown: "pages restore --list shows the restore points",
	toolapi.CodeTablesUnfit:         "restore all tables, without --tables; --into preview shows the result first",
	toolapi.CodeMigrationFailed:     "correct the migration, and deploy again; visitors still see the old revision",
	toolapi.CodeDataLoss: "propose it again, which shows the present losses, and name the tables: --allow-data-loss TABLE; or write the " +
		"comment -- pages: loses TABLE above the statement",
	toolapi.CodeWorkerFailed:     "correct the Worker, and deploy again; visitors still see the old revision",
	toolapi.CodeNotScheduled:     "pages revisions shows the schedule; pages deploy --at TIME schedules a publish",
	toolapi.CodeScheduleTooSoon:  "give a later time, or deploy without --at",
	toolapi.CodeRevisionUnknown:  "pages revisions lists the revisions; pages deploy publishes this folder",
	toolapi.CodeRevisionNotFound: "pages revisions lists the revisions; pages deploy --preview makes one of this folder",
	toolapi.CodeSecretUnknown:    "pages secrets list shows the names",
	toolapi.CodeDomainUnproven: "set it at your DNS provider, and verify again: a change may take minutes to show, and an " +
		"hour if the record had another value before",
	toolapi.CodeDomainTaken: "pages domains list lists those of the workspace; pages domains point moves one",

	toolapi.CodeConfirmationUnknown: proposeAgain,
	toolapi.CodeConfirmationExpired: proposeAgain,
	toolapi.CodeConfirmationStale:   proposeAgain,
}

const proposeAgain = "run the command that proposed it again, such as pages deploy"

// CommandError is Error for commands whose user does not name a tool.
func CommandError(err error) error {
	err = Error(err)
	if f, ok := errors.AsType[*failure.Error](err); ok {
		fix := commandFixes[f.Code]
		if _, named, ok := strings.Cut(f.Fix, `before_revision: "`); ok { // so that the printed command runs
			revision, _, _ := strings.Cut(named, `"`)
			fix = strings.Replace(fix, "REVISION", wording.ShellWord(revision), 1)
		}
		f.Fix = cmp.Or(fix, f.Fix)
	}
	return err
}

// refusedCall is the failure of a call that the tool refused.
func refusedCall(e *client.RefusalError, err error) *failure.Error {
	r := e.Refusal
	f := &failure.Error{
		Exit: failure.ExitTool, Code: r.Code, Message: wording.Printable(r.Message), Fix: wording.Printable(r.Fix), Err: err,
		Detail: &failure.Detail{
			Tool: e.Tool, Path: r.Path, Instruction: r.Instruction, Issues: r.Issues, Workspaces: r.Workspaces, RequestID: e.RequestID,
			Status: http.StatusOK, DataLoss: r.DataLoss,
		},
	}
	if r.Code == toolapi.CodeWorkspaceAmbiguous {
		f.Exit = failure.ExitPerson
	}
	if len(r.Workspaces) > 0 {
		f.Fix = "choose one: --workspace SLUG, or PAGES_WORKSPACE"
	}
	return f
}

// refusedStatus is the failure of a request that was refused by its status.
func refusedStatus(err error) *failure.Error {
	e, ok := errors.AsType[*client.StatusError](err)
	if !ok {
		return nil
	}
	f := &failure.Error{
		Exit: failure.ExitRefused, Code: cmp.Or(e.Code, fmt.Sprintf("http-%d", e.Status)),
		Message: wording.Printable(cmp.Or(e.Message, e.Error())), Err: err,
		Detail: &failure.Detail{RequestID: e.RequestID, Status: e.Status, RetryAfter: e.RetryAfter},
	}
	if e.Foreign() {
		refusedBetween(e, f)
		return f
	}
	switch {
	case e.Status == http.StatusUnauthorized:
		f.Exit, f.Fix = failure.ExitAccess, "check the key: PAGES_API_KEY, --api-key-file, or pages login"
	case e.Status == http.StatusNotFound && e.Code == toolapi.CodeNotFound:
		f.Fix = "check PAGES_BASE_URL: leave out /api/v1 and the rest of the path; pages tools lists the tools of the service"
	case e.Status == http.StatusForbidden:
		f.Exit, f.Fix = failure.ExitAccess, "the key is valid, but the API is closed to it: ask an owner of the workspace"
	case e.Status == http.StatusTooManyRequests:
		f.Exit, f.Fix = failure.ExitRate, "wait a minute, or use another key"
		if e.RetryAfter > 60 {
			f.Fix = fmt.Sprintf("wait %d s, or use another key", e.RetryAfter)
		}
	case e.Code == toolapi.CodeUploadExpired, e.Code == toolapi.CodeUploadNotFound:
		f.Fix = "run the same command again: it declares the files again, and sends the missing ones"
	case e.Code == toolapi.CodeTooManyUploads:
		f.Fix = "let another deploy end, or end one: pages revisions uploads lists them"
	case e.Code == toolapi.CodeTooManyPreviews:
		f.Fix = "end one with pages preview revoke ID; --expires makes links that end sooner"
	case e.Code == toolapi.CodeFileCount, e.Code == toolapi.CodeFileTooLarge, e.Code == toolapi.CodeBundleTooLarge:
		f.Fix = "leave out what visitors do not need (.assetsignore), or serve it from storage"
	case e.Code == toolapi.CodeStorageFull:
		f.Exit, f.Fix = failure.ExitNetwork, "ask the operator of the service for room on its disk, and run the same command again"
	case e.Temporary(), e.Status >= http.StatusInternalServerError:
		f.Exit, f.Fix = failure.ExitNetwork, "try again"
	}
	return f
}

const proxyName = "give the proxy's name and password in its variable: HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT"

// refusedBetween gives the failure of a request that a program before the service refused its exit code and fix.
func refusedBetween(e *client.StatusError, f *failure.Error) {
	switch {
	case e.Status == http.StatusRequestEntityTooLarge:
		f.Fix = "a proxy in front of the service refuses requests of this size: ask its operator to raise the limit " +
			"(client_max_body_size of nginx); or leave the file out (.assetsignore)"
	case e.Status == http.StatusProxyAuthRequired:
		f.Exit, f.Fix = failure.ExitNetwork, proxyName
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		f.Exit, f.Fix = failure.ExitAccess, "the key may be valid: a proxy or a firewall on the way refused the request. Ask the "+
			"operator of the network, or check PAGES_BASE_URL"
	case e.Status == http.StatusTooManyRequests:
		f.Exit, f.Fix = failure.ExitRate, "wait a minute, and try again"
	case e.Temporary(), e.Status >= http.StatusInternalServerError:
		f.Exit, f.Fix = failure.ExitNetwork, "try again; a proxy in front of the service may be unable to reach it"
	default:
		f.Fix = "check PAGES_BASE_URL, and the proxies between this machine and the service"
	}
}

// noResponse is the failure of a request without a response, or with one that breaks the contract.
func noResponse(err error) *failure.Error {
	if e, ok := errors.AsType[*client.TransportError](err); ok {
		f := &failure.Error{
			Exit: failure.ExitNetwork, Code: "no-answer", Message: wording.Printable(e.Error()),
			Fix: "check the address (PAGES_BASE_URL) and the network, and try again", Err: err,
			Detail: &failure.Detail{RequestID: e.RequestID},
		}
		switch {
		case e.Proxy != "" && strings.Contains(e.Err.Error(), http.StatusText(http.StatusProxyAuthRequired)):
			f.Fix = proxyName
		case e.Proxy != "" && !e.Reached:
			f.Fix = "the variable HTTPS_PROXY (or HTTP_PROXY, or in lower case) names that proxy: correct or remove it, or name " +
				"the service's host in NO_PROXY"
		case errors.Is(err, http.ErrSchemeMismatch):
			f.Message = "the service does not answer: it speaks http, not https"
			f.Fix = "check the port of the address (PAGES_BASE_URL); that of a service on this machine begins with http://"
		case e.Untrusted():
			f.Fix = "check the address (PAGES_BASE_URL) and this machine's clock; if your own certificate authority signs, name " +
				"its certificate's file in SSL_CERT_FILE"
		}
		return f
	}
	if e, ok := errors.AsType[*client.ContractError](err); ok {
		return &failure.Error{
			Exit: failure.ExitNetwork, Code: "not-the-contract", Message: wording.Printable(e.Error()), Fix: "check PAGES_BASE_URL",
			Err: err, Detail: &failure.Detail{RequestID: e.RequestID, Status: e.Status},
		}
	}
	if e, ok := errors.AsType[*client.AddressError](err); ok {
		return &failure.Error{Exit: failure.ExitUsage, Code: "bad-address", Message: e.Error(), Fix: e.Fix, Err: err}
	}
	return nil
}

// refusedDeploy is the failure of a deploy that must not continue.
func refusedDeploy(err error) *failure.Error {
	if e, ok := errors.AsType[*deploy.ChangedError](err); ok {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: toolapi.CodeFileChanged, Message: e.Error(),
			Fix: "let the build finish, and deploy again", Err: err,
		}
	}
	if e, ok := errors.AsType[*deploy.ConflictError](err); ok {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: toolapi.CodeRevisionConflict, Message: wording.Printable(e.Error()),
			Fix: "look at it with pages deploy --plan, and deploy again; --force skips the check", Err: err,
		}
	}
	e, ok := errors.AsType[*deploy.UnknownSiteError](err)
	if !ok {
		return nil
	}
	f := &failure.Error{
		Exit: failure.ExitRefused, Code: "site-unknown", Message: e.Error(),
		Fix: "name one of these with --site or PAGES_SITE, or create one with pages deploy --create NAME", Err: err,
		Detail: &failure.Detail{},
	}
	if e.Name == "" {
		f.Exit, f.Code = failure.ExitPerson, "site-not-chosen"
	}
	for _, p := range e.Pages {
		f.Detail.Sites = append(f.Detail.Sites, failure.SiteChoice{SiteID: p.SiteID, Name: p.Name, Hostname: p.Hostname})
	}
	if len(e.Pages) == 0 {
		f.Fix = "create one: pages deploy --create NAME"
	}
	return f
}

// PrintDetail prints for people the details of a service's failure. It escapes control characters.
func PrintDetail(t *terminal.Terminal, f *failure.Error) {
	if f.Detail == nil {
		return
	}
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(t.Stderr, "  %s %s\n", t.Paint("36", label), wording.Printable(text))
		}
	}
	line("code:", f.Code)
	line("tool:", f.Detail.Tool)
	if f.Detail.Status >= http.StatusBadRequest {
		line("status:", fmt.Sprintf("HTTP %d", f.Detail.Status))
	}
	line("at:", f.Detail.Path)
	for _, issue := range f.Detail.Issues {
		line("issue:", strings.TrimSpace(issue.Path+" "+issue.Message))
	}
	for _, slug := range f.Detail.Workspaces {
		line("workspace:", slug)
	}
	for _, s := range f.Detail.Sites {
		line("site:", fmt.Sprintf("%s  %s  %s", s.SiteID, s.Hostname, s.Name))
	}
	line("next:", f.Detail.Instruction)
	line("request:", f.Detail.RequestID)
}
