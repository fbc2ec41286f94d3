package host

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// This file closes idle sites, so that a service holds the databases and Workers of those in use, and not of all it ever
// served. The next request loads the site again, which takes some milliseconds.

const (
	// idleAfter is how long a site has no requests before it is closed.
	idleAfter = 10 * time.Minute
	// idleStep is how often idle sites are closed.
	idleStep = time.Minute
)

// closeIdle closes the site if it is idle, and reports whether it did. A request in the meantime waits until the site is
// closed, and opens it again.
func (s *hostedSite) closeIdle() bool {
	select {
	case s.busy <- struct{}{}:
	default:
		return false // it is being opened, or a release prepared
	}
	defer s.unlock()
	if s.ended || !s.usage.close() { // an ended preview is closed
		return false
	}
	if err := s.close(); err != nil {
		s.host.o.Logger.Warn("a site was not closed", "site", s.id, "error", err.Error())
		s.host.notice(err)
	}
	s.reset()
	return true
}

// idle returns the idle sites, the longest idle first, and how many sites are open.
func (h *Host) idle() (all []*hostedSite, open int) {
	since := map[*hostedSite]time.Time{}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, places := range []map[string]*hostedSite{h.previews, h.sites} {
		for _, s := range places {
			at, isIdle, isOpen := s.usage.idle()
			if isOpen {
				open++
			}
			if isIdle {
				since[s] = at
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(a, b *hostedSite) int { return cmp.Or(since[a].Compare(since[b]), cmp.Compare(a.id, b.id)) })
	return all, open
}

// makeRoom closes idle sites until one more may be open.
func (h *Host) makeRoom() {
	idle, open := h.idle()
	for _, s := range idle {
		if open < h.maxOpen {
			return
		}
		if s.closeIdle() {
			open--
		}
	}
}

// closeIdle closes the sites that have been idle for idleAfter.
func (h *Host) closeIdle() {
	now := h.o.Now()
	idle, _ := h.idle()
	for _, s := range idle {
		if since, isIdle, _ := s.usage.idle(); isIdle && now.Sub(since) >= idleAfter {
			s.closeIdle()
		}
	}
}

// CloseIdle closes idle sites from time to time, until the returned function is called.
func (h *Host) CloseIdle() (stop func()) {
	return h.repeat(idleStep, func(context.Context) { h.closeIdle() })
}

// repeat calls a function at each step, until the returned function is called, which waits for the last call, or the host ends.
func (h *Host) repeat(step time.Duration, call func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(h.until)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(step)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				call(ctx)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
