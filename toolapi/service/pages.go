package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// This file is the boundary of uploads, imports, preview links and revisions: plain HTTP beside the tools, with the
// refusals of section 7.3 of the platform document.

const pagesPrefix = "/api/v1/pages/"

// endpoint is an endpoint of the contract with its code.
type endpoint struct {
	toolapi.Endpoint
	run func(*pagesCall) error
}

// pagesCall is a request for an endpoint.
type pagesCall struct {
	*call
	x    *exchange
	kind endpoint
	// id and sum are the parts of the path: an upload, a preview link or a revision, and a blob.
	id, sum string
}

var pagesEndpoints = sync.OnceValue(func() (all []endpoint) {
	code := map[string]func(*pagesCall) error{
		"pages.declare":        (*pagesCall).declare,
		"pages.upload_status":  (*pagesCall).uploadStatus,
		"pages.cancel_upload":  (*pagesCall).cancelUpload,
		"pages.has_blob":       (*pagesCall).hasBlob,
		"pages.send_blob":      (*pagesCall).sendBlob,
		"pages.finalize":       (*pagesCall).finalize,
		"pages.import":         (*pagesCall).importArchive,
		"pages.preview":        (*pagesCall).makePreview,
		"pages.revoke_preview": (*pagesCall).revokePreview,
		"pages.named_preview":  (*pagesCall).deployPreview,
		"pages.previews":       (*pagesCall).listPreviews,
		"pages.revision":       (*pagesCall).readRevision,
		"pages.uploads":        (*pagesCall).listUploads,
	}
	for _, e := range toolapi.PagesEndpoints() {
		all = append(all, endpoint{e, code[e.Name]})
	}
	return all
})

// servePages serves the paths under pagesPrefix.
func (s *Service) servePages(x *exchange) error {
	c := &call{service: s, hash: hashKey(bearerKey(x.r)), request: x.request, now: s.now()}
	byMethod := map[string]endpoint{} // those at the address
	var id, sum string
	for _, e := range pagesEndpoints() {
		values, ok := e.Match(x.r.URL.EscapedPath())
		if !ok {
			continue
		}
		byMethod[e.Method] = e
		for i, part := range []*string{&id, &sum} {
			if i < len(values) {
				*part = values[i]
			}
		}
	}
	kind, ok := byMethod[x.r.Method]
	if len(byMethod) > 0 && !ok {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
			if _, ok := byMethod[method]; ok {
				allowed = append(allowed, method)
			}
		}
		x.Header().Set("Allow", strings.Join(allowed, ", "))
		return toolapi.NewError(toolapi.CodeMethodNotAllowed, "This address takes "+strings.Join(allowed, " and ")+".")
	}
	x.tool, x.sends = kind.Name, kind.Sends
	if err := s.admit(x, c); err != nil {
		return err
	}
	if !ok {
		return notFound()
	}
	c.tool = &toolapi.Tool{Name: kind.Name}
	var err error
	if c.headerID, err = toolapi.HeaderKey(x.r.Header); err != nil {
		return err
	}
	if c.headerID != "" && !kind.Keyed {
		return toolapi.NewError(toolapi.CodeIdempotencyUnsupported,
			"This request takes no Idempotency-Key: send it without the key.")
	}
	return kind.run(&pagesCall{call: c, x: x, kind: kind, id: id, sum: sum})
}

// refusePages responds with the envelope of section 7.3.
func (s *Service) refusePages(x *exchange, err error) {
	refused := s.pagesRefusal(x, err)
	if x.status != 0 {
		return // the panic came while the response was written
	}
	if x.code == "" {
		x.code = refused.Inner.Code
	}
	h := x.Header()
	if wait := refused.Inner.RetryAfterSeconds; wait > 0 {
		h.Set(toolapi.HeaderRetryAfter, strconv.FormatInt(int64(wait), 10))
	}
	switch refused.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusForbidden: // a missing permission, found after the call was counted
		h.Del(toolapi.HeaderRateLimit)
		h.Del(toolapi.HeaderRateLimitRemaining)
		h.Del(toolapi.HeaderRateLimitReset)
	case http.StatusUnsupportedMediaType:
		h.Set("Accept-Encoding", "gzip, identity")
	}
	if x.tool == "pages.import" {
		refused.Inner.RetryAfterSeconds = 0
	}
	const shortBody = 64 << 10 // a longer one is not read to its end
	if x.r.ContentLength > shortBody || x.r.ContentLength < 0 || refused.Status == http.StatusRequestTimeout {
		h.Set("Connection", "close")
	}
	body, err := json.Marshal(refused)
	if err != nil {
		refused.Status = http.StatusInternalServerError
	}
	x.reply(refused.Status, append(body, '\n'))
}

// pagesRefusal converts any error to the envelope of section 7.3. It logs a failure of the service itself without
// disclosing it.
func (s *Service) pagesRefusal(x *exchange, err error) *toolapi.PagesError {
	if refused, ok := errors.AsType[*toolapi.PagesError](err); ok {
		return refused
	}
	if refused, ok := errors.AsType[*toolapi.Error](err); ok {
		return toolapi.PagesErrorOf(refused)
	}
	if refused, ok := refusedWith(err); ok {
		message := refused.refusal.Message
		if all := refused.refusal.Workspaces; len(all) > 0 {
			message += " Workspaces: " + strings.Join(all, ", ") + "."
		}
		return toolapi.NewPagesError(refused.refusal.Code, message)
	}
	if fault, ok := errors.AsType[*bundle.FaultError](err); ok {
		return toolapi.NewPagesError(fault.Code, fault.Message)
	}
	if x.r.Context().Err() != nil {
		x.code = "canceled" // the caller has left
	} else {
		s.log.Error("failed", "request", x.request, "tool", x.tool, "error", err.Error())
	}
	const ioerr = 10 // a result code of SQLite
	database, _ := errors.AsType[*sqlite.Error](err)
	switch {
	case fullDisk(err):
		return toolapi.NewPagesError(toolapi.CodeStorageFull, "The service's disk is full; nothing was stored.")
	case errors.Is(err, blob.ErrBroken), database != nil && database.Code()&0xff == ioerr:
		const soon = 5
		refused := toolapi.NewPagesError(toolapi.CodePagesUnavailable, "The service cannot write to its disk at the moment. Try again.")
		refused.Inner.RetryAfterSeconds = soon
		return refused
	}
	return toolapi.PagesErrorOf(internal())
}

// object reads a body that is a JSON object.
func (p *pagesCall) object() (toolapi.Object, error) {
	text, err := p.body(toolapi.MaxBody)
	if err != nil {
		return toolapi.Object{}, err
	}
	return toolapi.ParseObject(text)
}

// body reads a body of at most `most` bytes that is declared as JSON.
func (p *pagesCall) body(most int64) ([]byte, error) {
	const mostAhead = 2 << 20 // bytes allocated on the word of a header
	tooLarge := func() error {
		return toolapi.NewPagesError(toolapi.CodePagesBodyTooLarge,
			fmt.Sprintf("The request body must have at most %d bytes.", most))
	}
	if p.x.r.ContentLength > most {
		return nil, tooLarge()
	}
	var read bytes.Buffer
	read.Grow(int(min(max(p.x.r.ContentLength, 0), mostAhead)) + bytes.MinRead)
	_, err := read.ReadFrom(http.MaxBytesReader(p.x.ResponseWriter, io.NopCloser(p.pacedBody()), most))
	text := read.Bytes()
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return nil, tooLarge()
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, tooSlow()
	case err != nil:
		return nil, toolapi.NewError(toolapi.CodeMalformedBody, "The request body ended before its length.")
	case len(text) == 0:
		return nil, toolapi.NewError(toolapi.CodeMalformedBody, "The request body must be a JSON object.")
	case !isJSON(p.x.r.Header):
		return nil, toolapi.NewError(toolapi.CodeMalformedBody,
			"The request body must be sent as Content-Type: application/json, in UTF-8.")
	}
	return text, nil
}

func tooSlow() error {
	return toolapi.NewPagesError(toolapi.CodeBodyTimeout, "The body arrived too slowly; nothing was stored.")
}

// badArguments refuses a request with its first issues.
func badArguments(issues []toolapi.Issue) *toolapi.PagesError {
	const most = 5
	var parts []string
	for _, issue := range issues[:min(len(issues), most)] {
		name := issue.Path
		if name == "" {
			name = "the body"
		}
		parts = append(parts, name+" "+issue.Message)
	}
	message := "The request is not valid: " + strings.Join(parts, "; ") + "."
	if more := len(issues) - most; more > 0 {
		message += fmt.Sprintf(" It has %d more problems.", more)
	}
	return toolapi.NewPagesError(toolapi.CodeInvalidArguments, message)
}

// enterWorkspace enters the transaction and the workspace that a call names, or its default. The holder must be allowed to
// upload there.
func (p *pagesCall) enterWorkspace(t tx, named string) error {
	if err := p.enter(t); err != nil {
		return err
	}
	in, source, err := p.who.resolve(named)
	if err != nil {
		return err
	}
	p.in, p.as = in, workingIn(in, source)
	return p.checkPermission()
}

// enterWorkspaceOf enters the workspace of an object that the call names. It reports whether the holder has access.
func (p *pagesCall) enterWorkspaceOf(workspace int64) (bool, error) {
	for _, w := range p.who.reachableWorkspaces() {
		if w.id != workspace {
			continue
		}
		p.in, p.as = w, workingIn(w, toolapi.CallOverride)
		if in, source, err := p.who.resolve(""); err == nil && in.id == workspace {
			p.as = workingIn(w, source)
		}
		return true, p.checkPermission()
	}
	return false, nil
}

func (p *pagesCall) checkPermission() error {
	if !roleAllows(p.in.role, uploadPages) {
		return toolapi.NewPagesError(toolapi.CodePermissionDenied,
			"The holder of this key may not "+string(uploadPages)+" in this workspace.")
	}
	return nil
}

// pagesSite is site, with the refusal of an endpoint.
func (p *pagesCall) pagesSite(id toolapi.UUID) (siteRow, error) {
	s, err := p.site(id)
	if refused, ok := refusedWith(err); ok && refused.refusal.Code == toolapi.CodeSiteUnknown {
		return s, toolapi.NewPagesError(toolapi.CodeSiteNotFound, "There is no such site in this workspace.")
	}
	return s, err
}

// storedReply is stored for a retry with the same key.
type storedReply struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

// storedResponse returns the reply to the first request with the same idempotency key, if there is one.
func (p *pagesCall) storedResponse(t tx, fingerprint []byte) (k storedReply, found bool, err error) {
	if p.headerID == "" {
		return k, false, nil
	}
	var first, text []byte
	found, err = t.queryOne("SELECT fingerprint, answer FROM answers WHERE holder_id = ? AND workspace_id = ? AND "+
		"tool = ? AND key = ? AND created_at > ?",
		[]any{p.who.holder, p.in.id, p.kind.Name, p.headerID, p.now.Add(-answerLife).UnixMilli()}, &first, &text)
	if err != nil || !found {
		return k, false, err
	}
	if string(first) != string(fingerprint) {
		return k, false, toolapi.NewPagesError(toolapi.CodeIdempotencyReused, "This idempotency key was used for another request.")
	}
	err = json.Unmarshal(text, &k)
	return k, true, err
}

// storeResponse writes the audit row, and stores the reply for a retry with the same key.
func (p *pagesCall) storeResponse(fingerprint []byte, status int, result any, e entry) (k storedReply, err error) {
	if err := p.audit(e); err != nil {
		return k, err
	}
	body, err := encode(result)
	if err != nil {
		return k, err
	}
	k = storedReply{Status: status, Body: body}
	if p.headerID == "" {
		return k, nil
	}
	text, err := json.Marshal(k)
	if err != nil {
		return k, err
	}
	return k, p.exec("INSERT OR REPLACE INTO answers (holder_id, workspace_id, tool, key, fingerprint, answer, "+
		"refusal, created_at) VALUES (?, ?, ?, ?, ?, ?, 0, ?)",
		p.who.holder, p.in.id, p.kind.Name, p.headerID, fingerprint, string(text), p.now.UnixMilli())
}

func (p *pagesCall) sendReply(k storedReply) {
	p.x.reply(k.Status, append([]byte(strings.TrimRight(string(k.Body), "\n")), '\n'))
}

// sendResult sends a reply without storing it.
func (p *pagesCall) sendResult(status int, result any) error {
	body, err := encode(result)
	if err == nil {
		p.x.reply(status, body)
	}
	return err
}
