// Package host runs the sites that a service publishes: each with its own front door, databases and Workers.
//
// A Host implements toolapi/service.Host. In go releases, as the service has stored them; it migrates the database of a
// site, starts its Worker, shows the release to visitors and closes what nobody visits. The state of each site is a
// folder of the data folder. Refusals that a release is to blame for are *service.ReleaseError. A Host is safe for
// concurrent use. It never listens, and never writes outside of its folder.
package host

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding/images"
)

// Host runs what `pages platform` publishes: each site with its own front door,
// databases and Workers. It implements service.Host.
type Host struct {
	o        Options
	dir      string          // of the sites' state
	until    context.Context // ends with the service
	notice   func(error)     // of what databases failed with
	arrived  func(string)    // of a site that has a new lead
	runtime  func() (*pagesruntime.Runtime, error)
	outside  *site.Outside     // for visitors of no site
	files    *site.FileCache   // of all sites
	most     int               // sites that are open at a time
	visitors int               // of a site at a time
	turns    int               // of a site's Worker that run at a time; 0 for as many as there are processors
	patient  time.Duration     // with the migrations of a release
	bounds   localstate.Bounds // of a site's database

	mu       sync.Mutex
	sites    map[string]*hostedSite
	previews map[string]*hostedSite
}

// fileBytes is how much of their files all sites hold in memory together. The collector
// lets the process grow to about twice that; what is not in memory is read and checked
// anew, which takes some 20 µs for a page.
const fileBytes = 12 << 20

// Options say where a host keeps things, and what it shares with the process around it.
type Options struct {
	Dir          string // the data folder of the service
	CompileCache string // where machine code is kept between starts; "" for nowhere
	Tool         string // how the program names itself in what it writes
	Memory       *pagesruntime.HostMemory
	Images       *images.Queue
	Now          func() time.Time
	Logger       *slog.Logger
}

// New makes the host of a data folder. Engine and sites are started when they are
// first needed.
func New(ctx context.Context, o Options) (*Host, error) {
	if err := boundTemporary(); err != nil {
		return nil, err
	}
	h := &Host{
		o: o, dir: filepath.Join(o.Dir, "sites"), until: context.WithoutCancel(ctx), files: site.NewFileCache(fileBytes),
		sites: map[string]*hostedSite{}, previews: map[string]*hostedSite{}, most: openSites(mostFiles()), visitors: visitorsOf(MaxConns()),
		patient: migrationTime, bounds: localstate.Bounds{Bytes: databaseBytes, Temporary: temporaryFS},
		notice: func(error) {}, arrived: func(string) {},
	}
	h.runtime = sync.OnceValues(func() (*pagesruntime.Runtime, error) {
		return pagesruntime.Open(h.until, pagesruntime.Options{CacheDir: o.CompileCache, Now: o.Now, Memory: o.Memory})
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
		return nil, err
	}
	return h, nil
}

// Observe has what databases failed with, and sites that have a new lead, told to the service.
func (h *Host) Observe(failed func(error), arrived func(site string)) {
	h.notice, h.arrived = failed, arrived
}

// ShareProcessors bounds the turns of each site's Worker that run at a time, and makes room for those of others: see
// share.go. It changes the whole process.
func (h *Host) ShareProcessors() { h.turns = shareProcessors() }

// Close ends all sites. No request may be under way.
func (h *Host) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	ran := false
	for _, all := range []map[string]*hostedSite{h.previews, h.sites} {
		for _, s := range all {
			errs = append(errs, s.close())
			ran = ran || s.ran
		}
	}
	if ran {
		if rt, err := h.runtime(); err == nil {
			errs = append(errs, rt.Close(h.until))
		}
	}
	return errors.Join(errs...)
}

// place returns the place of a site, or of a preview, which may not be open yet.
func (h *Host) place(all map[string]*hostedSite, id, dir string) *hostedSite {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := all[id]
	if !ok {
		s = &hostedSite{host: h, id: id, dir: dir, busy: make(chan struct{}, 1)}
		all[id] = s
	}
	return s
}

func (h *Host) site(id string) *hostedSite {
	return h.place(h.sites, id, filepath.Join(h.dir, id))
}
