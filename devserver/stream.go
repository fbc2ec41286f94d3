package devserver

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/site"
)

// keepAlive is how often a quiet stream sends a comment, by which the server notices a page that has gone.
const keepAlive = 15 * time.Second

// serveStream is GET /__pages/reload?token=…&v=N: server-sent events for one open page that holds version N. It takes
// the token of the reload script and proof that a page of this site makes the request. Beyond this machine it announces
// new versions, and never problems.
func (h *Hub) serveStream(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if !ownPage(r) || subtle.ConstantTimeCompare([]byte(query.Get("token")), []byte(h.opener)) != 1 {
		refuseForeign(w, r, "the reload stream is for this site's own pages")
		return
	}
	held := r.Header.Get("Last-Event-ID") // of a page that reconnects
	if held == "" {
		held = query.Get("v")
	}
	version, err := strconv.ParseInt(held, 10, 64)
	if err != nil {
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusBadRequest, Code: "version_malformed", Message: "v is not a version number",
		})
		return
	}
	guest := loopback.VisitOf(r.Context()) != nil
	serveEvents(w, r, func() *subscriber { return h.join(version, guest) }, h.leave)
}

// serveFeed is GET /__pages/api/dev/stream: server-sent events for a dashboard, each a "state" with the document of
// /__pages/api/dev, now and after each build.
func (h *Hub) serveFeed(w http.ResponseWriter, r *http.Request) {
	if !ownPage(r) {
		refuseForeign(w, r, "the stream is for the dashboard")
		return
	}
	serveEvents(w, r, h.view, h.endView)
}

// serveEvents streams to a subscriber between join and leave.
func serveEvents(w http.ResponseWriter, r *http.Request, join func() *subscriber, leave func(*subscriber)) {
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	page := join()
	if page == nil {
		w.Header().Set("Retry-After", "1")
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusServiceUnavailable, Code: "too_many_pages", Message: "no room for another page",
		})
		return
	}
	defer leave(page)
	_ = stream(w, r, page.messages) // it ends with the page or the server
}

// stream writes messages until they end or the client is gone.
func stream(w http.ResponseWriter, r *http.Request, messages <-chan message) error {
	control := http.NewResponseController(w)
	if _, err := io.WriteString(w, "retry: 500\n\n"); err != nil {
		return err
	}
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		if err := control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		var err error
		select {
		case <-r.Context().Done():
			return nil
		case <-alive.C:
			_, err = io.WriteString(w, ": alive\n\n")
		case m, open := <-messages:
			if !open {
				return nil
			}
			err = m.write(w)
		}
		if err != nil {
			return err
		}
	}
}

func (m message) write(w io.Writer) error {
	data, err := json.Marshal(m.data)
	if err != nil {
		return err
	}
	if m.id > 0 {
		if _, err := fmt.Fprintf(w, "id: %d\n", m.id); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", m.event, data)
	return err
}

const (
	// maxSubscribers bounds the streams of each kind; each is an open page.
	maxSubscribers = 64
	// subscriberRoom is how many messages may wait for one page. A page that falls further behind is cut off; it
	// reconnects and starts afresh.
	subscriberRoom = 16
)

// subscriber is one open page. Its channel is closed when it is cut off.
type subscriber struct{ messages chan message }

// message is one server-sent event. With an id above 0, the page sends it back when it reconnects.
type message struct {
	event string
	id    int64
	data  any
}

// audience is a set of open pages. Its owner guards it.
type audience map[*subscriber]struct{}

// join adds a page, or returns nil when there are too many.
func (a audience) join() *subscriber {
	if len(a) >= maxSubscribers {
		return nil
	}
	page := &subscriber{make(chan message, subscriberRoom)}
	a[page] = struct{}{}
	return page
}

// broadcast sends m to every page without waiting.
func (a audience) broadcast(m message) {
	for page := range a {
		select {
		case page.messages <- m:
		default:
			a.end(page)
		}
	}
}

// end ends one stream, once.
func (a audience) end(page *subscriber) {
	if _, open := a[page]; open {
		delete(a, page)
		close(page.messages)
	}
}
