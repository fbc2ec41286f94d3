package site

import (
	"cmp"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

// keepAlive is the pause after which a silent stream sends a comment.
const keepAlive = 15 * time.Second

// openAPI lets a request for a JSON document through, or refuses it. On a site that is not on its author's machine the
// documents are for members.
func (x *exchange) openAPI() bool {
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		x.refuseMethod("GET, HEAD")
		return false
	}
	if x.site.options.DevHints {
		return true
	}
	who, err := x.signedInMember()
	switch {
	case err != nil:
		x.databaseFailed("session not read", err)
	case who == nil:
		x.refuseJSON(refuse(http.StatusUnauthorized, "sign_in_required", "this document is for members: sign in first"))
	case !x.site.isMember(x.r.Context(), *who):
		x.refuseJSON(refuse(http.StatusForbidden, "not_a_member", "this document is for members of the workspace"))
	default:
		return true
	}
	return false
}

// stillReads reports whether openAPI would still accept the client: a stream may outlast the session, and the membership.
func (x *exchange) stillReads() bool {
	if x.site.options.DevHints {
		return true
	}
	who, err := x.signedInMember()
	if err != nil {
		x.site.options.Logger.Error("session not read", "error", err)
	}
	return err == nil && who != nil && x.site.isMember(x.r.Context(), *who)
}

func (x *exchange) apiLeads() {
	if !x.openAPI() {
		return
	}
	query := x.r.URL.Query()
	filter := LeadFilter{Form: query.Get("form"), Limit: parseLimit(query.Get("limit")), Spam: query.Get("spam") == "1"}
	writeList(x, "leads", x.site.store.eachLead(x.r.Context(), filter))
}

func (x *exchange) apiEvents() {
	if !x.openAPI() {
		return
	}
	query := x.r.URL.Query()
	filter := EventFilter{Name: query.Get("name"), Form: query.Get("form"), Limit: parseLimit(query.Get("limit"))}
	writeList(x, "events", x.site.store.eachEvent(x.r.Context(), filter))
}

// writeList streams an object with one list. Clients determine the length of the list, so it is never whole in memory.
func writeList[T any](x *exchange, name string, all iter.Seq2[T, error]) {
	x.out.Header().Set("Content-Type", "application/json; charset=utf-8")
	if x.r.Method == http.MethodHead {
		x.out.begin()
		return
	}
	before := `{"` + name + `":[`
	for each, err := range all {
		var text []byte
		if err == nil {
			text, err = marshal(each)
		}
		err = cmp.Or(err, x.r.Context().Err())
		if err != nil && before != "," {
			x.databaseFailed(name+" not read", err)
			return
		}
		if err != nil {
			x.failure = err.Error()
			panic(http.ErrAbortHandler) // a partial list must not look complete
		}
		x.out.write(append([]byte(before), text...))
		before = ","
	}
	if before != "," {
		x.out.write([]byte(before))
	}
	x.out.write([]byte("]}\n"))
}

// parseLimit reads a limit; a malformed one means no limit.
func parseLimit(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

func (x *exchange) apiRequests() {
	if x.openAPI() {
		x.writeJSON(http.StatusOK, struct {
			Requests []RequestRecord `json:"requests"` // newest first
		}{x.site.requests.newestFirst()})
	}
}

// State is the document of GET /__pages/api/state.
type State struct {
	Workspace   string           `json:"workspace"`
	Revision    string           `json:"revision"`
	Worker      bool             `json:"worker"` // there is code
	Assets      int              `json:"assets"` // number of static files
	Routes      []manifest.Route `json:"routes"`
	Forms       []manifest.Form  `json:"forms"`
	Submissions string           `json:"submissions"` // table, "" for none
	Limits      manifest.Limits  `json:"limits"`
	Personas    []Persona        `json:"personas"`
	Member      *Member          `json:"member"` // of the session, null for signed out
	IsMember    bool             `json:"is_member"`
	Leads       int              `json:"leads"`
	Spam        int              `json:"spam"`        // kept apart, not among Leads
	SpamFilter  bool             `json:"spam_filter"` // the filter is on
	Events      int              `json:"events"`
}

func (x *exchange) apiState() {
	if !x.openAPI() {
		return
	}
	v, m := x.serving, x.serving.manifest
	state := State{
		Workspace: x.site.options.Workspace, Revision: v.revision.ID, Worker: v.revision.Worker != nil, Assets: len(v.static.files),
		Routes: listOf(m.Routes), Forms: listOf(m.Forms), Submissions: m.Bindings.Submissions, Limits: m.Limits,
		Personas: listOf(x.site.personas()), SpamFilter: !x.site.spamOff.Load(),
	}
	var err error
	if state.Member, err = x.signedInMember(); err == nil {
		state.Leads, state.Spam, state.Events, err = x.site.store.counts(x.r.Context())
	}
	if err != nil {
		x.databaseFailed("state not read", err)
		return
	}
	state.IsMember = state.Member != nil && x.site.isMember(x.r.Context(), *state.Member)
	x.writeJSON(http.StatusOK, state)
}

// listOf makes a list that is [] in JSON when it is empty.
func listOf[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// apiStream sends events and request records as they arrive, as server-sent events "event" and "request". With a Last-Event-ID it starts
// with the events after that one.
func (x *exchange) apiStream() {
	if !x.openAPI() {
		return
	}
	x.out.Header().Set("Content-Type", "text/event-stream")
	if x.r.Method == http.MethodHead {
		return
	}
	stream := x.site.events.subscribe()
	defer x.site.events.unsubscribe(stream)
	last, err := x.missedEvents()
	if err != nil {
		x.databaseFailed("events not read", err)
		return
	}
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		x.out.Flush()
		select {
		case <-x.r.Context().Done():
			return
		case m, ok := <-stream:
			if !ok || !x.stillReads() {
				return
			}
			// An event stored while the missed ones are read arrives both ways.
			if m.sequence == 0 || m.sequence > last {
				x.out.write(m.text)
			}
		case <-tick.C:
			if !x.stillReads() {
				return
			}
			x.out.write([]byte(": still here\n\n"))
		}
	}
}

// missedEvents sends the events after the client's Last-Event-ID, and returns the last sequence that it sent.
func (x *exchange) missedEvents() (last int64, err error) {
	if n, err := strconv.ParseInt(x.r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		last = max(n, 0)
	}
	hello := []byte(": hello\n\n")
	if last > 0 {
		for e, err := range x.site.store.eachEvent(x.r.Context(), EventFilter{After: last}) {
			switch {
			case err != nil && hello != nil:
				return 0, err
			case err != nil:
				x.failure = err.Error()
				panic(http.ErrAbortHandler) // the browser reconnects and resumes after its last event
			}
			x.out.write(append(hello, eventMessage(e).text...))
			hello, last = nil, e.Sequence
		}
	}
	x.out.write(hello)
	return last, nil
}

// broker sends events and request records to the open streams. It closes a slow stream: its browser connects again and requests the missed
// events.
type broker struct {
	mu      sync.Mutex
	streams map[chan message]struct{}
	open    atomic.Int32 // len(streams), readable without the lock
	closed  bool
}

// message is one message of a stream, ready to be sent.
type message struct {
	sequence int64 // of an event, 0 for other messages
	text     []byte
}

// streamRoom is the number of messages that may wait for a stream.
const streamRoom = 256

func newBroker() *broker { return &broker{streams: map[chan message]struct{}{}} }

// subscribe opens a stream. Its channel closes when the stream should end.
func (b *broker) subscribe() chan message {
	b.mu.Lock()
	defer b.mu.Unlock()
	stream := make(chan message, streamRoom)
	if b.closed {
		close(stream)
		return stream
	}
	b.streams[stream] = struct{}{}
	b.open.Add(1)
	return stream
}

func (b *broker) unsubscribe(stream chan message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(stream)
}

func (b *broker) drop(stream chan message) {
	if _, ok := b.streams[stream]; ok {
		delete(b.streams, stream)
		b.open.Add(-1)
		close(stream)
	}
}

func (b *broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for stream := range b.streams {
		b.drop(stream)
	}
}

// publish sends an event to every stream.
func (b *broker) publish(e Event) {
	if b.open.Load() > 0 {
		b.send(eventMessage(e))
	}
}

// publishUpdate sends a document to every stream: a "request" record, the outcome of a "delivery", or a lead that is "spam". It has no id:
// a browser that reconnects asks only for entries of the list of events.
func (b *broker) publishUpdate(name string, document any) {
	if b.open.Load() == 0 {
		return
	}
	if text, err := marshal(document); err == nil {
		b.send(message{text: fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)})
	}
}

func (b *broker) send(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for stream := range b.streams {
		select {
		case stream <- m:
		default:
			b.drop(stream)
		}
	}
}

// eventMessage formats an event for a stream. The id is its sequence, with which a browser asks for later events.
func eventMessage(e Event) message {
	document, err := marshal(e)
	if err != nil {
		return message{}
	}
	return message{sequence: e.Sequence, text: fmt.Appendf(nil, "id: %d\nevent: event\ndata: %s\n\n", e.Sequence, document)}
}
