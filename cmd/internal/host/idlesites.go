package host

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// This file closes idle sites, so that a service holds only the databases and Workers of the sites in use. The next request loads the site
// again, in a few milliseconds.

const (
	// idleAfter is the time without requests after which a site is closed.
	idleAfter = 10 * time.Minute
	// idleStep is the time between two looks for idle sites.
	idleStep = time.Minute
)

// closeIdle closes the site if it is idle, and reports whether it did. A request in the meantime waits until the site is
// closed, and opens it again.
func (s *hostedSite) closeIdle() bool {
	select {
	case s.busy <- struct{}{}:
	default:
		return false // it is being opened, or a release is being prepared
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

// idle returns the idle sites, the longest idle first, and the number of open sites.
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

// makeRoom closes idle sites until one more site may open.
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

// CloseIdle closes idle sites at each idleStep, until the returned function is called.
func (h *Host) CloseIdle() (stop func()) {
	return h.repeat(idleStep, func(context.Context) { h.closeIdle() })
}

// repeat calls a function at each step, until the host ends or the returned function is called, which waits for the last call.
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
