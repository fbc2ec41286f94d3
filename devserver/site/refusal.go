package site

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// RefusalError is the response to a client's mistake. As JSON it is the "error" of {"ok":false,"error":{…}} (platform document, section
// 7.3).
type RefusalError struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`    // stable: "path_malformed"
	Message string `json:"message"` // a sentence that helps a person to act
	// Fix is the advice to the client. Pages show it; in JSON it is part of Message.
	Fix string `json:"-"`
	// Retriable is true if the same request may succeed later.
	Retriable bool `json:"retriable,omitempty"`
	// RetryAfter is the value of the header with that name, in seconds; 0 for no header.
	RetryAfter int `json:"-"`
}

func (e *RefusalError) Error() string { return e.Message }

func refuse(status int, code, message string) *RefusalError {
	return &RefusalError{Status: status, Code: code, Message: message}
}

func (e *RefusalError) fix(text string) *RefusalError {
	e.Fix = text
	return e
}

func refusePath(message string) *RefusalError { return refuse(400, "path_malformed", message) }

func noSuchPage() *RefusalError {
	return refuse(http.StatusNotFound, "not_found", "there is no page at this address")
}

// Refuse responds as the site itself refuses: with a page for browsers, and with JSON for other clients. It serves the handlers around a
// site, such as [Options.Control]; before the site has seen a request, the response is JSON.
func Refuse(w http.ResponseWriter, r *http.Request, e *RefusalError) {
	if x := exchangeFrom(r.Context()); x != nil {
		x.refuse(e)
		return
	}
	x := &exchange{site: &Site{}, r: r}
	x.out.ResponseWriter = w
	x.refuseJSON(e)
}

// refuse answers with a page for browsers and with JSON for other clients.
func (x *exchange) refuse(e *RefusalError) {
	if !wantsPage(x.r) {
		x.refuseJSON(e)
		return
	}
	x.failure = cmp.Or(x.failure, e.Code)
	page := notice{
		Title: http.StatusText(e.Status), Status: strconv.Itoa(e.Status), Text: sentence(e.Message), Style: x.site.pages.style,
		Link: "/", LinkText: "Go to the start page",
	}
	if x.showsHints() {
		page.Fix = sentence(e.Fix)
	}
	if e.Code == "not_a_member" {
		page.Link, page.LinkText = signInTarget(x.path), "Sign in as somebody else"
	}
	x.refusalHeaders(e)
	x.writePage(e.Status, "notice", page)
}

func (x *exchange) refusalHeaders(e *RefusalError) {
	ownHeaders(x.out.Header())
	if e.RetryAfter > 0 {
		x.out.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
}

// sentence makes a sentence of a message.
func sentence(message string) string {
	if message == "" {
		return ""
	}
	return strings.ToUpper(message[:1]) + message[1:] + "."
}

type refusalDocument struct {
	OK    bool          `json:"ok"`
	Error *RefusalError `json:"error"`
}

func (x *exchange) refuseJSON(e *RefusalError) {
	x.failure = cmp.Or(x.failure, e.Code)
	x.refusalHeaders(e)
	shown := *e
	if e.Fix != "" && x.showsHints() {
		shown.Message += ": " + e.Fix
	}
	x.writeJSON(e.Status, refusalDocument{Error: &shown})
}

// bodyTooSlow reports whether the body of the request arrived more slowly than the server allows. net/http then acts as if the client had
// left.
func (x *exchange) bodyTooSlow() bool {
	body, ok := x.r.Body.(interface{ TooSlow() bool })
	return ok && body.TooSlow()
}

func (x *exchange) refuseSlowBody() {
	clear(x.out.Header())
	x.out.Header().Set("Connection", "close")
	x.refuse(refuse(http.StatusRequestTimeout, "body_too_slow",
		"the body of the request arrived too slowly: it may take 10 s, and a second more for each KiB that has arrived"))
}

// refuseError responds to an error of a function that returns refusals. Any other error comes from reading the
// request: the client disconnected.
func (x *exchange) refuseError(err error) {
	refusal, ok := errors.AsType[*RefusalError](err)
	if !ok && x.bodyTooSlow() {
		x.refuseSlowBody()
		return
	}
	if !ok {
		refusal = refuse(http.StatusBadRequest, "request_incomplete", "the request broke off")
	}
	x.refuse(refusal)
}

func (x *exchange) refuseMethod(allow string) {
	x.out.Header().Set("Allow", allow)
	x.refuse(refuse(http.StatusMethodNotAllowed, "method_not_allowed", "this address does not take "+x.r.Method+" requests"))
}

// databaseFailed responds when the platform's database failed.
func (x *exchange) databaseFailed(what string, err error) {
	x.failure = err.Error()
	x.site.options.Logger.Error(what, "error", err)
	if x.site.options.DatabaseFailed != nil {
		x.site.options.DatabaseFailed(err)
	}
	status := http.StatusServiceUnavailable
	if sqliteKind(err) == sqliteFull {
		status = http.StatusInsufficientStorage
	} else {
		x.out.Header().Set("Retry-After", "5")
	}
	x.refuse(refuse(status, "storage_failed", "the site could not store or read its data, try again later"))
}

// Outside refuses requests without a site, as a site itself refuses: with a page for browsers, and with JSON for other clients. It is safe
// for concurrent use.
type Outside struct{ pages *pages }

// NewOutside prepares the page.
func NewOutside() (*Outside, error) {
	p, err := newPages(Options{})
	return &Outside{p}, err
}

// Refuse responds. The heading of the page is title. It has no link: there is no site to go to.
func (o *Outside) Refuse(w http.ResponseWriter, r *http.Request, title string, e *RefusalError) {
	x := &exchange{site: &Site{pages: o.pages}, r: r}
	x.out.ResponseWriter = w
	if !wantsPage(r) {
		x.refuseJSON(e)
		return
	}
	ownHeaders(w.Header())
	x.writePage(e.Status, "notice", notice{Title: title, Text: sentence(e.Message), Style: o.pages.style})
}
