package spam

import (
	"crypto/rand"
	"crypto/sha256"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// How long a History remembers.
const (
	RateWindow   = 10 * time.Minute // posts of an address
	RepeatWindow = 24 * time.Hour   // messages
)

const (
	// messageLength is the number of characters from which an answer counts as a message: shorter ones, such as "yes", repeat among people.
	messageLength = 32
	// historySize bounds the addresses, with their forms, and the messages that a History remembers.
	historySize = 4096
	// keptTimes bounds the times of each. Every step of the score is below it.
	keptTimes = 64
)

// History counts posts of each address and form, and repeats of messages. It keeps only keyed hashes, in memory, not addresses or messages;
// it starts empty with the process. The zero value is not usable: see [NewHistory].
type History struct {
	key [32]byte

	mu    sync.Mutex
	posts window
	texts window
}

// NewHistory returns an empty history.
func NewHistory() *History {
	h := &History{posts: newWindow(RateWindow), texts: newWindow(RepeatWindow)}
	_, _ = rand.Read(h.key[:]) // it never fails
	return h
}

// Note counts a post, and returns the numbers of earlier ones: recent ones of the form from its address, and repeats of its message. It
// does not count a post from an invalid address.
func (h *History) Note(now time.Time, address netip.Addr, form string, answers []Answer) (recent, repeats int) {
	if !address.IsValid() {
		return 0, 0
	}
	message := messageOf(answers)
	h.mu.Lock()
	defer h.mu.Unlock()
	recent = h.posts.note(now, h.hash("post", network(address), form))
	if message != "" {
		repeats = h.texts.note(now, h.hash("text", form, message))
	}
	return recent, repeats
}

// network returns the part of an address that belongs to one client: IPv6 gives a household 64 bits.
func network(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	prefix, err := address.Prefix(64)
	if err != nil {
		return address.String()
	}
	return prefix.String()
}

// messageOf returns the longest answer, without case and repeated spaces; "" if no answer is a message.
func messageOf(answers []Answer) string {
	longest := ""
	for _, a := range answers {
		if len(a.Text) > len(longest) {
			longest = a.Text
		}
	}
	message := strings.ToLower(strings.Join(strings.Fields(longest), " "))
	if utf8.RuneCountInString(message) < messageLength {
		return ""
	}
	return message
}

func (h *History) hash(parts ...string) [32]byte {
	return sha256.Sum256([]byte(string(h.key[:]) + strings.Join(parts, "\x00")))
}

// window has the latest times of each key.
type window struct {
	span  time.Duration
	times map[[32]byte][]time.Time
}

func newWindow(span time.Duration) window { return window{span, map[[32]byte][]time.Time{}} }

// note adds a time to a key, and returns the number of earlier times in the window.
func (w *window) note(now time.Time, key [32]byte) int {
	kept := w.recent(now, w.times[key])
	before := len(kept)
	if kept = append(kept, now); len(kept) > keptTimes {
		kept = kept[1:]
	}
	if _, known := w.times[key]; !known && len(w.times) >= historySize {
		w.makeRoom(now)
	}
	w.times[key] = kept
	return before
}

// recent returns the times that are still in the window, oldest first, in a new slice.
func (w *window) recent(now time.Time, all []time.Time) []time.Time {
	for len(all) > 0 && now.Sub(all[0]) > w.span {
		all = all[1:]
	}
	return append([]time.Time(nil), all...)
}

// makeRoom removes the keys that left the window and, if none did, half of all: a flood of new keys must not keep out later ones.
func (w *window) makeRoom(now time.Time) {
	for key, all := range w.times {
		if now.Sub(all[len(all)-1]) > w.span {
			delete(w.times, key)
		}
	}
	for key, all := range w.times {
		if len(w.times) <= historySize/2 {
			return
		}
		if len(all) == 1 {
			delete(w.times, key)
		}
	}
	if len(w.times) > historySize/2 {
		clear(w.times)
	}
}
