package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// siteHost runs what `pages platform` publishes: each site with its own front door,
// databases and Workers. It implements service.Host.
type siteHost struct {
	cli     *cli
	dir     string // of the sites' state
	logger  *slog.Logger
	until   context.Context // ends with the service
	notice  func(error)     // of what databases failed with
	arrived func(string)    // of a site that has a new lead
	runtime func() (*pagesruntime.Runtime, error)
	outside *site.Outside   // for visitors of no site
	files   *site.FileCache // of all sites

	mu       sync.Mutex
	sites    map[string]*hostedSite
	previews map[string]*hostedSite
}

// hostFileBytes is how much of their files all sites hold in memory together. The collector
// lets the process grow to about twice that; what is not in memory is read and checked
// anew, which takes some 20 µs for a page.
const hostFileBytes = 12 << 20

// loadPause is how long a site that could not be loaded is left alone.
const loadPause = 5 * time.Second

// newHost makes the host of a data folder. Engine and sites are started when they are
// first needed.
func (c *cli) newHost(ctx context.Context, data *platformData, logger *slog.Logger) (*siteHost, error) {
	h := &siteHost{
		cli: c, dir: filepath.Join(data.dir, "sites"), logger: logger, until: context.WithoutCancel(ctx), files: site.NewFileCache(hostFileBytes),
		sites: map[string]*hostedSite{}, previews: map[string]*hostedSite{},
	}
	h.runtime = sync.OnceValues(func() (*pagesruntime.Runtime, error) {
		return pagesruntime.Open(h.until, pagesruntime.Options{CacheDir: c.compileCache(), Now: c.now})
	})
	outside, err := site.NewOutside()
	if err != nil {
		return nil, err
	}
	h.outside = outside
	// Previews begin anew with the service.
	old, err := filepath.Glob(filepath.Join(h.dir, "*", "previews"))
	for _, dir := range old {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		return nil, data.unusable(err)
	}
	return h, nil
}

// close ends all sites. No request may be under way.
func (h *siteHost) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, s := range h.previews {
		errs = append(errs, s.close())
	}
	for _, s := range h.sites {
		errs = append(errs, s.close())
	}
	opened := false
	for _, s := range h.sites {
		opened = opened || s.ran
	}
	for _, s := range h.previews {
		opened = opened || s.ran
	}
	if opened {
		if rt, err := h.runtime(); err == nil {
			errs = append(errs, rt.Close(h.until))
		}
	}
	return errors.Join(errs...)
}

// find returns the place of a site, or of a preview, which may not be open yet.
func find(mu *sync.Mutex, all map[string]*hostedSite, id string, fresh func() *hostedSite) *hostedSite {
	mu.Lock()
	defer mu.Unlock()
	s, ok := all[id]
	if !ok {
		s = fresh()
		all[id] = s
	}
	return s
}

func (h *siteHost) site(id string) *hostedSite {
	return find(&h.mu, h.sites, id, func() *hostedSite { return h.newSite(id, filepath.Join(h.dir, id)) })
}

// Prepare implements service.Host.
func (h *siteHost) Prepare(ctx context.Context, r service.Release) (service.Prepared, error) {
	s := h.site(r.Site)
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	err := s.open(ctx, r)
	var next *preparedRelease
	if err == nil {
		next, err = s.prepare(ctx, r)
	}
	if err != nil {
		h.notice(err)
		return nil, err
	}
	return next, nil
}

// Serve implements service.Host.
func (h *siteHost) Serve(w http.ResponseWriter, r *http.Request, id string, load func(context.Context) (service.Release, error)) {
	h.visit(w, r, h.site(id), load)
}

// Preview implements service.Host.
func (h *siteHost) Preview(w http.ResponseWriter, r *http.Request, id string, load func(context.Context) (service.Release, error)) {
	s := find(&h.mu, h.previews, id, func() *hostedSite { return h.newSite(id, "") })
	h.visit(w, r, s, load)
}

// EndPreview implements service.Host.
func (h *siteHost) EndPreview(id string) {
	h.mu.Lock()
	s, ok := h.previews[id]
	delete(h.previews, id)
	h.mu.Unlock()
	if !ok {
		return
	}
	if err := s.lock(h.until); err != nil {
		return
	}
	defer s.unlock()
	s.ended = true
	if err := s.close(); err != nil {
		h.logger.Warn("a preview was not closed", "preview", id, "error", err.Error())
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // the next start tries again
	}
}

// Serving implements service.Host.
func (h *siteHost) Serving(id string) bool {
	h.mu.Lock()
	s, ok := h.sites[id]
	h.mu.Unlock()
	return !ok || s.shown.Load() || s.failedAt.Load() == 0
}

// Leads implements service.Host.
func (h *siteHost) Leads(ctx context.Context, id string, after int64, most int) (all []service.Captured, err error) {
	name := filepath.Join(h.dir, id, platformFile)
	if !isFile(name) {
		return nil, nil
	}
	db, err := openSQLite(ctx, name, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	leads, err := site.CapturedAfter(ctx, db, after, most)
	for _, l := range leads {
		fields, err := json.Marshal(l.Fields)
		if err != nil {
			return nil, err
		}
		one := service.Captured{Number: l.Number, ID: l.ID, Form: l.Form, Fields: fields, CreatedAt: l.CreatedAt.Time, Preview: l.Preview}
		for _, e := range l.Raised {
			one.Events = append(one.Events, toolapi.LeadEvent{ID: e.ID, Name: e.Name})
		}
		all = append(all, one)
	}
	return all, err
}

func (h *siteHost) visit(w http.ResponseWriter, r *http.Request, s *hostedSite, load func(context.Context) (service.Release, error)) {
	if !s.shown.Load() {
		if err := s.load(r.Context(), load); err != nil {
			h.cannotShow(w, r, s, err)
			return
		}
	}
	s.hosts.note(r.Host)
	s.front.ServeHTTP(w, r)
}

// cannotShow answers a visitor of a site that could not be loaded.
func (h *siteHost) cannotShow(w http.ResponseWriter, r *http.Request, s *hostedSite, err error) {
	if errors.Is(err, errEnded) {
		h.Refuse(w, r, service.NoPreview())
		return
	}
	h.logger.Error("a page could not be shown", "site", s.id, "error", err.Error())
	h.notice(err)
	w.Header().Set("Retry-After", strconv.Itoa(int(loadPause/time.Second)))
	h.Refuse(w, r, service.NotShown())
}

// Refuse implements service.Host.
func (h *siteHost) Refuse(w http.ResponseWriter, r *http.Request, e service.VisitError) {
	h.outside.Refuse(w, r, e.Title, &site.RefusalError{Status: e.Status, Code: e.Code, Message: e.Text})
}

// hostNames are the names that a site was asked for by.
type hostNames struct {
	mu    sync.Mutex
	names map[string]bool
}

func (n *hostNames) note(host string) {
	const most = 16
	host = strings.ToLower(host)
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.names[host] && len(n.names) < most {
		if n.names == nil {
			n.names = map[string]bool{}
		}
		n.names[host] = true
	}
}

func (n *hostNames) has(host string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.names[strings.ToLower(host)]
}

// links are the members of a site's workspace, as the front door asks for them.
type links struct{ people service.People }

// Send implements site.Links.
func (l links) Send(ctx context.Context, email string, address func(string) string) error {
	return l.people.SendLink(ctx, email, address)
}

// Redeem implements site.Links.
func (l links) Redeem(ctx context.Context, token string) (site.Member, bool, error) {
	who, ok, err := l.people.Redeem(ctx, token)
	return site.Member(who), ok, err
}

// mail puts a message into the outbox: a file for a mail program, and a line for who
// looks on.
func (c *cli) mail(data *platformData) func(context.Context, service.Mail) error {
	return func(_ context.Context, m service.Mail) error {
		dir := filepath.Join(data.dir, "outbox")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		now := c.now().UTC()
		name := filepath.Join(dir, now.Format("20060102T150405.000000000Z")+".eml")
		text := fmt.Sprintf("Date: %s\r\nTo: %s\r\nSubject: %s\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s",
			now.Format(time.RFC1123Z), m.To, m.Subject, strings.ReplaceAll(m.Text, "\n", "\r\n"))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
		c.progress("mail to %s: %s", m.To, linkOf(m.Text))
		return nil
	}
}

// linkOf is the address in a message, or its first line.
func linkOf(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://") {
			return line
		}
	}
	return first
}
