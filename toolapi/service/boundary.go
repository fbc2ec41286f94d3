package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// This file is the boundary: everything between a request and its tool, and the refusals before anything runs
// (platform document, sections 4.1, 5 and 7.1).

// exchange is one request with its response and its log entry.
type exchange struct {
	http.ResponseWriter
	r       *http.Request
	request string // id
	status  int
	tool    string
	code    string
	key     string // prefix
	pages   bool   // refusals are in the envelope of section 7.3
	sends   bool   // it counts against the window of uploads
}

// WriteHeader implements http.ResponseWriter. Only the first call counts.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
		x.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(b []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	return x.ResponseWriter.Write(b)
}

// ReadFrom implements io.ReaderFrom: the server sends a page's files without reading them.
func (x *exchange) ReadFrom(src io.Reader) (int64, error) {
	x.WriteHeader(http.StatusOK)
	return io.Copy(x.ResponseWriter, src)
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := s.elapsed()
	request, ok := toolapi.RequestID(r.Header)
	if !ok {
		request = uuid()
	}
	x := &exchange{ResponseWriter: w, r: r, request: request}
	setCommonHeaders(w.Header(), request)
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic", "request", request, "tool", x.tool, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			s.refuse(x, internal())
		}
		took := s.elapsed() - started
		s.metrics.count(x.tool, x.status, x.code, took)
		level := slog.LevelInfo
		if x.status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
		// Bodies, keys and the query are never logged.
		s.log.Log(x.r.Context(), level, "request", "request", x.request, "method", x.r.Method, "tool", x.tool,
			"status", x.status, "code", x.code, "key", x.key, "ms", took.Milliseconds())
	}()
	s.route(x)
}

// setCommonHeaders sets the headers of every response.
func setCommonHeaders(h http.Header, request string) {
	h.Set(toolapi.HeaderAPI, toolapi.Stage)
	h.Set(toolapi.HeaderRequestID, request)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// route dispatches by the path as sent, neither cleaned nor decoded.
func (s *Service) route(x *exchange) {
	if s.Failure() != nil {
		s.refuseFailed(x)
		return
	}
	if s.serveHosted(x) {
		return
	}
	// DNS rebinding: a web page whose name resolves to this machine would otherwise have the same origin, and the demo's
	// keys are public.
	if name := bareName(x.r.Host); !isLoopback(name) && !strings.HasSuffix(name, localSuffix) {
		s.refuse(x, toolapi.NewError(toolapi.CodeHostRefused, "This service answers only to localhost and its loopback addresses."))
		return
	}
	path := x.r.URL.EscapedPath()
	if name, ok := strings.CutPrefix(path, toolapi.ToolsPath); ok {
		s.serveTool(x, name)
		return
	}
	if strings.HasPrefix(path, pagesPrefix) {
		x.pages = true
		if err := s.servePages(x); err != nil {
			s.refuse(x, err)
		}
		return
	}
	if path == toolapi.MCPPath {
		s.serveMCP(x)
		return
	}
	if isConsole(path) {
		s.serveConsole(x, path)
		return
	}
	if fault := ambiguity(x.r.URL); fault != "" {
		s.refuse(x, toolapi.NewError(toolapi.CodeMalformedRequest, "No page or tool has an address of this form: "+fault+"."))
		return
	}
	page, ok := map[string]func(*exchange){
		toolapi.HealthPath: s.serveHealth, toolapi.MetricsPath: s.serveMetrics, toolapi.DeprecationsPath: s.serveDeprecations,
		toolapi.OpenAPIPath: s.serveOpenAPI,
	}[path]
	switch {
	case !ok:
		s.refuse(x, notFound())
	case x.r.Method != http.MethodGet && x.r.Method != http.MethodHead:
		x.Header().Set("Allow", "GET, HEAD")
		s.refuse(x, toolapi.NewError(toolapi.CodeMethodNotAllowed, "This address is read-only: use GET."))
	default:
		page(x)
	}
}

// ambiguity returns the fault of a path that two programs could read differently; "" for any other. It does not check
// names of tools and uploads: all unknown ones get the same response.
func ambiguity(u *url.URL) (fault string) {
	switch {
	case !strings.HasPrefix(u.Path, "/"):
		return "" // of OPTIONS and CONNECT
	case strings.Contains(strings.ToLower(u.EscapedPath()), "%2f"):
		return "the path holds an encoded slash"
	}
	_, fault = sitepath.CanonicalPath(u.Path)
	return fault
}

// notFound is the same for every name, to disclose nothing.
func notFound() *toolapi.Error {
	return toolapi.NewError(toolapi.CodeNotFound, "This address does not exist. "+toolapi.OpenAPIPath+" lists the tools.")
}

func internal() *toolapi.Error {
	return toolapi.NewError(toolapi.CodeInternal,
		"The service failed; nothing changed. Try again, and include the x-request-id when you report it.")
}

// serviceFailure is the refusal for a failure of the service itself.
func serviceFailure(err error) *toolapi.Error {
	if isSyncError(err) {
		return toolapi.NewError(toolapi.CodeInternal,
			"The disk failed, and the outcome is unknown. When the service is back, check before you try again.")
	}
	if fullDisk(err) {
		return toolapi.NewError(toolapi.CodeInternal,
			"The service's disk is full; nothing changed. Try again when it has free space.")
	}
	return internal()
}

// fullDisk reports whether an error means a full disk.
func fullDisk(err error) bool {
	const full = 13 // SQLITE_FULL
	database, ok := errors.AsType[*sqlite.Error](err)
	return ok && database.Code()&0xff == full || blob.IsFull(err)
}

// serveTool answers POST /api/v1/tools/<name>.
func (s *Service) serveTool(x *exchange, name string) {
	if x.r.Method != http.MethodPost {
		x.Header().Set("Allow", http.MethodPost)
		s.refuse(x, toolapi.NewError(toolapi.CodeMethodNotAllowed, "Call tools with POST."))
		return
	}
	a, err := s.call(x, name)
	if err != nil {
		s.refuse(x, err)
		return
	}
	if a.refused != "" {
		x.code = a.refused
		x.Header().Set(toolapi.HeaderToolError, strconv.FormatBool(a.boundary))
	}
	x.reply(http.StatusOK, a.body)
}

// call passes a request to its tool.
func (s *Service) call(x *exchange, name string) (response, error) {
	c := &call{service: s, hash: hashKey(bearerKey(x.r)), request: x.request, now: s.now()}
	if err := s.admit(x, c); err != nil {
		return response{}, err
	}
	h, ok := s.tools[name]
	if !ok {
		return response{}, notFound()
	}
	x.tool, c.tool = name, h.tool
	if err := c.read(x); err != nil {
		return response{}, err
	}
	return h.dispatch(x.r.Context(), c)
}

// admit identifies the caller and counts the call.
func (s *Service) admit(x *exchange, c *call) error {
	ctx := x.r.Context()
	var err error
	if c.version, err = s.db.cache.currentVersion(ctx); err != nil {
		return err
	}
	who, err := readCached(s.db.cache, c.version, "key "+string(c.hash), func() (identity, error) {
		return readTx(ctx, s.db, func(t tx) (identity, error) { return identify(t, c.hash, c.now) })
	})
	if err == nil {
		err = who.checkExpiry(c.now)
	}
	if err != nil {
		return err
	}
	c.who = who
	x.key = c.who.prefix
	s.used.note(c.who.key, c.now)
	return s.count(x, c.who, 1)
}

// count counts calls of a key against its cap, all or none.
func (s *Service) count(x *exchange, who identity, calls int) error {
	limit := who.perMinute
	if limit == 0 {
		limit = s.perMinute
	}
	window, of := s.limits, "calls"
	if x.sends {
		window, limit, of = s.sends, s.sendsPerMinute, "uploads and look-ups"
	}
	left, ok := window.admit(who.key, limit, calls)
	h := x.Header()
	h.Set(toolapi.HeaderRateLimit, strconv.Itoa(left.limit))
	h.Set(toolapi.HeaderRateLimitRemaining, strconv.Itoa(left.remaining))
	h.Set(toolapi.HeaderRateLimitReset, strconv.FormatInt(left.reset, 10))
	if !ok {
		message := fmt.Sprintf("This key is limited to %d %s per minute. Wait for retry_after_seconds.", limit, of)
		return toolapi.NewError(toolapi.CodeRateLimited, message).After(toolapi.Seconds(left.reset))
	}
	return nil
}

// read reads the body and its headers.
func (c *call) read(x *exchange) (err error) {
	if c.headerID, err = toolapi.HeaderKey(x.r.Header); err != nil {
		return err
	}
	if c.headerID != "" && !c.tool.Replays {
		return toolapi.NewError(toolapi.CodeIdempotencyUnsupported, "This tool cannot replay a retry: send it without Idempotency-Key.")
	}
	text, err := x.body()
	if err != nil {
		return err
	}
	if len(text) > 0 && !isJSON(x.r.Header) {
		return toolapi.NewError(toolapi.CodeMalformedBody, "The request body must be sent as Content-Type: application/json, in UTF-8.")
	}
	if c.body, err = toolapi.ParseObject(text); err != nil {
		return err
	}
	if !c.tool.Replays || !c.body.Has("idempotency_key") {
		return nil
	}
	toolapi.Deprecate(x.Header(), toolapi.BodyKey)
	if key := c.body.String("idempotency_key"); c.headerID != "" && key != c.headerID {
		return toolapi.NewError(toolapi.CodeIdempotencyConflict,
			"Idempotency-Key and the body's idempotency_key differ: send the header alone.")
	}
	return nil
}

// body reads the request body.
func (x *exchange) body() ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(x.ResponseWriter, x.r.Body, toolapi.MaxBody))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return nil, toolapi.NewError(toolapi.CodeBodyTooLarge,
			fmt.Sprintf("The request body must have at most %d bytes.", toolapi.MaxBody))
	}
	if err != nil {
		return nil, toolapi.NewError(toolapi.CodeMalformedBody, "The request body ended before its length.")
	}
	return text, nil
}

// isJSON reports whether a body is declared as JSON, or not declared at all.
func isJSON(h http.Header) bool {
	sent := h.Values("Content-Type")
	if len(sent) == 0 {
		return true
	}
	kind, parameters, err := mime.ParseMediaType(sent[0])
	charset, there := parameters["charset"]
	return len(sent) == 1 && err == nil && kind == "application/json" && (!there || strings.EqualFold(charset, "utf-8"))
}

// refuse answers with the Error envelope. A failure of the service itself is logged and not disclosed.
func (s *Service) refuse(x *exchange, err error) {
	if x.pages {
		s.refusePages(x, err)
		return
	}
	refused, ok := errors.AsType[*toolapi.Error](err)
	if !ok {
		if x.r.Context().Err() != nil {
			x.code = "canceled" // the client has left
		} else {
			s.log.Error("failed", "request", x.request, "tool", x.tool, "error", err.Error())
		}
		refused = serviceFailure(err)
	}
	if x.status != 0 {
		return // the panic happened during the response
	}
	if x.code == "" {
		x.code = refused.Code
	}
	h := x.Header()
	toolapi.Deprecate(h, toolapi.NestedError)
	if refused.RetryAfterSeconds > 0 {
		h.Set(toolapi.HeaderRetryAfter, strconv.FormatInt(int64(refused.RetryAfterSeconds), 10))
	}
	status := toolapi.Status(refused.Code)
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	body, err := json.Marshal(refused)
	if err != nil {
		status = http.StatusInternalServerError
	}
	x.reply(status, append(body, '\n'))
}

// reply writes a JSON answer.
func (x *exchange) reply(status int, body []byte) {
	x.Header().Set("Content-Type", "application/json")
	x.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(status)
	_, _ = x.Write(body) // fails only after the client has left
}

// serveDeprecations answers at the Link of a deprecated response.
func (s *Service) serveDeprecations(x *exchange) {
	x.Header().Set("Content-Type", "text/html; charset=utf-8")
	x.WriteHeader(http.StatusOK)
	until := toolapi.SunsetDate().Format("2 January 2006")
	fmt.Fprintf(x, `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Deprecations</title>
<h1>Deprecations</h1>
<h2 id="%s">The nested error object of refusals</h2>
<p>Kept until %s at least. Read code, message and retry_after_seconds at the top level.</p>
<h2 id="%s">idempotency_key in the body</h2>
<p>Accepted until %s at least. Send the Idempotency-Key header.</p>
<h2 id="truncated">truncated of content.status</h2>
<p>Page with cursor until next_cursor is absent.</p>
</html>
`, toolapi.NestedError, until, toolapi.BodyKey, until)
}

// openAPI is the interface description, the same for every service.
var openAPI = sync.OnceValues(func() ([]byte, error) { return toolapi.NewContract().OpenAPI() })

func (s *Service) serveOpenAPI(x *exchange) {
	document, err := openAPI()
	if err != nil {
		s.log.Error("failed", "request", x.request, "path", toolapi.OpenAPIPath, "error", err.Error())
		s.refuse(x, internal())
		return
	}
	x.reply(http.StatusOK, document)
}
