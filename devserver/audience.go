package devserver

const (
	// maxSubscribers bounds the streams of each kind; each is an open page.
	maxSubscribers = 64
	// subscriberRoom is how many messages may wait for one page. A page that
	// falls further behind is cut off; it reconnects and starts afresh.
	subscriberRoom = 16
)

// subscriber is one open page. Its channel is closed when it is cut off.
type subscriber struct{ messages chan message }

// message is one server-sent event. An id above 0 is what the page holds once
// it has read the message, and says again when it reconnects.
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

// broadcast sends m to every page and waits for none.
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

func (a audience) cutAll() {
	for page := range a {
		a.end(page)
	}
}
