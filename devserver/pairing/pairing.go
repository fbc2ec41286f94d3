// Package pairing lets the author of a site choose the browsers beyond this machine that may sign in to it: by a code that the author's
// terminal shows and the visitor types in the browser.
//
// Input: the requests and codes of browsers, each with the token of its cookie. Output: tokens for cookies, and an [Event] for each message
// to the author. A code belongs to the browser that asked for it, works once, is valid for ten minutes and allows five tries. A browser
// stays paired until [Codes.Forget], or as long as the Codes exist: nothing is stored.
//
// A stranger who deletes the cookie starts again, so all codes together have a bound: a number in ten minutes, and a smaller number for one
// address, used or not. That bounds the guesses, to a chance of one in two million for each ten minutes of a stranger's time, and the lines
// of the terminal. Forget makes room at once, so no stranger locks the author out permanently.
//
// Errors are a [*WrongError], a [*BusyError], and [ErrNoCode]. Codes are safe for concurrent use. The package does not depend on HTTP and
// prints nothing.
package pairing

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// life is the time for which a code is valid and counts against the bounds.
	life = 10 * time.Minute
	// maxTries is the number of codes that a browser may enter.
	maxTries = 5
	// maxCodes is the number of codes in the time of a life, and maxCodesOf the number for one address.
	maxCodes   = 10
	maxCodesOf = 3
)

// ErrNoCode means that no code waits for a browser: it asked for none, or its code is no longer valid.
var ErrNoCode = errors.New("this browser has no pending code")

// WrongError means that a code was wrong.
type WrongError struct {
	Left int // tries that the browser has left
}

func (e *WrongError) Error() string {
	return fmt.Sprintf("that is not the code, %d tries are left", e.Left)
}

// BusyError means that there is no code for another browser.
type BusyError struct {
	After time.Duration // until the next code is free
}

func (e *BusyError) Error() string { return "too many browsers asked for a code" }

// State is the pairing state of a browser.
type State string

// The states of a browser.
const (
	Asked  State = "asked"  // it asked, and its user must type Code
	Paired State = "paired" // it sent its code
	Failed State = "failed" // it used all its tries
	Busy   State = "busy"   // it asked while no code was free; sent once until one is free
)

// Event is a message to the author.
type Event struct {
	State   State
	Browser int        // the number of a browser with a code, from 1; 0 for a browser without one
	Code    string     // eight digits; "" unless asked
	Expires time.Time  // of the code
	Host    string     // as the browser requested it
	Client  netip.Addr // of the browser, from a proxy; invalid if unknown
}

// Options configure Codes. The zero value works.
type Options struct {
	// OnEvent is called for each event, one at a time.
	OnEvent func(Event)
	Now     func() time.Time // default time.Now
}

// Codes holds the pending codes and the paired browsers of one run.
type Codes struct {
	options Options

	mu      sync.Mutex
	pending map[key]*pending // codes of the last ten minutes that paired no browser
	paired  map[key]int      // the number of each browser
	count   int              // of browsers that got a code
	busy    bool             // the Busy event was sent
}

// key is the hash of a browser's token, which is not stored.
type key [sha256.Size]byte

// pending is a code that waits for its browser.
type pending struct {
	Event
	tries int
}

// New makes Codes.
func New(o Options) *Codes {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnEvent == nil {
		o.OnEvent = func(Event) {}
	}
	return &Codes{options: o, pending: map[key]*pending{}, paired: map[key]int{}}
}

// Paired reports whether a token belongs to a paired browser.
func (c *Codes) Paired(token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paired[keyOf(token)] != 0
}

// Ask makes the author's terminal show a code for a browser, unless one is pending. token is the token of its cookie, "" for none; fresh is
// its new token, "" to keep the old one. The error is a [*BusyError].
func (c *Codes) Ask(token, host string, client netip.Addr) (fresh string, browser int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire()
	if p := c.pending[keyOf(token)]; p != nil && p.tries < maxTries {
		return "", p.Browser, nil
	}
	if after := c.full(client); after > 0 {
		if !c.busy {
			c.busy = true
			c.options.OnEvent(Event{State: Busy, Host: host, Client: client})
		}
		return "", 0, &BusyError{After: after}
	}
	c.busy = false
	c.count++
	fresh = rand.Text()
	p := &pending{
		Event: Event{State: Asked, Browser: c.count, Code: newCode(), Expires: c.options.Now().Add(life), Host: host, Client: client},
	}
	c.pending[keyOf(fresh)] = p
	c.options.OnEvent(p.Event)
	return fresh, p.Browser, nil
}

// Enter pairs a browser that sends its code. The browser gets a fresh token: a token that another person has planted there stays useless.
// The error is a [*WrongError], or [ErrNoCode].
func (c *Codes) Enter(token, code string) (fresh string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire()
	p := c.pending[keyOf(token)]
	if p == nil || p.tries >= maxTries {
		return "", ErrNoCode
	}
	p.tries++
	digits := strings.Map(func(r rune) rune { // people type codes in groups
		if strings.ContainsRune(" -.\u00a0", r) {
			return -1
		}
		return r
	}, code)
	if subtle.ConstantTimeCompare([]byte(digits), []byte(p.Code)) != 1 {
		if p.tries == maxTries {
			c.tell(p, Failed)
		}
		return "", &WrongError{Left: maxTries - p.tries}
	}
	delete(c.pending, keyOf(token))
	fresh = rand.Text()
	c.paired[keyOf(fresh)] = p.Browser
	c.tell(p, Paired)
	return fresh, nil
}

// Forget invalidates all codes, and unpairs all browsers.
func (c *Codes) Forget() (browsers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	browsers = len(c.paired)
	clear(c.pending)
	clear(c.paired)
	c.busy = false
	return browsers
}

// tell sends the outcome of a code. The caller holds the lock.
func (c *Codes) tell(p *pending, state State) {
	c.options.OnEvent(Event{State: state, Browser: p.Browser, Host: p.Host, Client: p.Client})
}

// expire deletes expired codes. The caller holds the lock.
func (c *Codes) expire() {
	now := c.options.Now()
	for k, p := range c.pending {
		if !now.Before(p.Expires) {
			delete(c.pending, k)
		}
	}
}

// full returns the time until there is a code for an address; 0 if there is one now. The caller holds the lock.
func (c *Codes) full(client netip.Addr) time.Duration {
	var all, own time.Time // when the next one makes room
	codes, codesOf := 0, 0
	for _, p := range c.pending {
		codes++
		if all.IsZero() || p.Expires.Before(all) {
			all = p.Expires
		}
		if !client.IsValid() || network(p.Client) != network(client) {
			continue
		}
		codesOf++
		if own.IsZero() || p.Expires.Before(own) {
			own = p.Expires
		}
	}
	switch now := c.options.Now(); {
	case codes >= maxCodes:
		return all.Sub(now)
	case codesOf >= maxCodesOf:
		return own.Sub(now)
	}
	return 0
}

// network returns the addresses of one client: a single address or, in IPv6, a network.
func network(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	prefix, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // of an unknown address
	}
	return prefix
}

func keyOf(token string) key { return sha256.Sum256([]byte(token)) }

// newCode returns eight random digits, each code with the same probability.
func newCode() string {
	const codes = 100_000_000
	for {
		var b [4]byte
		_, _ = rand.Read(b[:]) // it never fails: the process ends instead
		if n := binary.BigEndian.Uint32(b[:]); n < math.MaxUint32/codes*codes {
			return fmt.Sprintf("%08d", n%codes)
		}
	}
}
