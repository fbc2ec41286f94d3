package host

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// This file closes published sites that nobody visits, so that a service holds the
// databases and Workers of those that are visited, and not of all it ever showed. The
// next visitor has the site loaded again, which takes some milliseconds.

const (
	// restAfter is how long nobody visits a site before it is closed.
	restAfter = 10 * time.Minute
	// restStep is how often it is looked for such sites.
	restStep = time.Minute
)

// rest closes the site if nobody needs it, and reports whether it did. Who comes meanwhile
// waits until it is closed, and opens it again.
func (s *hostedSite) rest() bool {
	select {
	case s.busy <- struct{}{}:
	default:
		return false // it is being opened, or a release made ready
	}
	defer s.unlock()
	if s.ended || !s.usage.rest() { // what has ended is closed
		return false
	}
	if err := s.close(); err != nil {
		s.host.o.Logger.Warn("a site was not closed", "site", s.id, "error", err.Error())
		s.host.notice(err)
	}
	s.forget()
	return true
}

// resting are the sites that nobody needs, those first that nobody has needed for
// longest, and how many sites are open.
func (h *Host) resting() (all []*hostedSite, open int) {
	since := map[*hostedSite]time.Time{}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, places := range []map[string]*hostedSite{h.previews, h.sites} {
		for _, s := range places {
			if s.usage.isOpen() {
				open++
			}
			if at, ok := s.usage.resting(); ok {
				since[s] = at
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(a, b *hostedSite) int { return cmp.Or(since[a].Compare(since[b]), cmp.Compare(a.id, b.id)) })
	return all, open
}

// makeRoom closes sites that nobody needs until one more may be open.
func (h *Host) makeRoom() {
	resting, open := h.resting()
	for _, s := range resting {
		if open < h.most {
			return
		}
		if s.rest() {
			open--
		}
	}
}

// closeResting closes the sites that nobody has needed for restAfter.
func (h *Host) closeResting() {
	now := h.o.Now()
	resting, _ := h.resting()
	for _, s := range resting {
		if since, ok := s.usage.resting(); ok && now.Sub(since) >= restAfter {
			s.rest()
		}
	}
}

// WatchResting does that from time to time, until the returned function is called.
func (h *Host) WatchResting() (stop func()) {
	ctx, cancel := context.WithCancel(h.until)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		step := time.NewTicker(restStep)
		defer step.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-step.C:
				h.closeResting()
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
