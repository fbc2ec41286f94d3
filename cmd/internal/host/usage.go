package host

import (
	"sync"
	"time"
)

// usage is who needs an open site: visitors, releases that wait to be shown, and previews.
// The zero value is that of a site that is not open.
type usage struct {
	mu    sync.Mutex
	open  bool // its state and its front door are
	shown bool
	users int
	last  time.Time // when one left

	visitors int // whose requests are under way, or wait for the site
}

// enter reports whether visitors are shown something. If so the site stays open until
// leave.
func (u *usage) enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.shown {
		u.users++
	}
	return u.shown
}

// admit lets a visitor in, until the returned function is called; it is nil where so many are in already.
func (u *usage) admit(most int) (leave func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.visitors >= most {
		return nil
	}
	u.visitors++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.visitors--
	}
}

// hold keeps the site open until leave. The caller holds the site's lock.
func (u *usage) hold() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users++
}

func (u *usage) leave(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users--
	u.last = now
}

// opened notes that the site is open.
func (u *usage) opened(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open, u.last = true, now
}

// shows notes that visitors are shown something.
func (u *usage) shows() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shown = true
}

func (u *usage) isShown() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.shown
}

func (u *usage) isOpen() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.open
}

// resting reports whether the site is open and nobody needs it, and since when.
func (u *usage) resting() (since time.Time, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last, u.open && u.users == 0
}

// rest lets nobody in any more, unless someone needs the site.
func (u *usage) rest() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.open || u.users > 0 {
		return false
	}
	u.open, u.shown = false, false
	return true
}
