// Package host runs the sites that a service publishes: each with its own front door, databases and Workers.
//
// A Host implements toolapi/service.Host. Its input is a release as the service has stored it: it migrates the database of the site, starts
// its Worker, serves the release and closes idle sites. The state of each site is a folder of the data folder. A fault of a release is a
// *service.ReleaseError. A Host is safe for concurrent use. It opens no listener, and writes only below its folder.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding/images"
	"github.com/pages-toolchain/pages/runtime/workerd"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// Host runs the sites of `pages platform`: each site with its own front door, databases and Workers. It implements
// service.Host.
type Host struct {
	o           Options
	dir         string                    // of the sites' state
	until       context.Context           // ends with the service
	notice      func(error)               // takes errors of databases
	arrived     func(string)              // takes the site of a new lead
	engine      func() *siteworker.Engine // opened when the first Worker starts
	outside     *site.Outside             // answers where there is no site
	files       *site.FileCache           // of all sites
	maxOpen     int                       // open sites
	maxRequests int                       // of a site at a time
	turns       int                       // the turns of a site's Worker that run at a time; 0 for as many as there are processors
	maxMigrate  time.Duration             // for the migrations of a release
	rehearsals  *rehearsing               // of proposals
	judging     *rehearsing               // of releases that go live
	limits      rehearsalLimits
	bounds      localstate.Bounds

	mu       sync.Mutex
	sites    map[string]*hostedSite
	previews map[string]*hostedSite
}

// fileBytes bounds the files of all sites in memory. The collector lets the process grow to about twice that; other files are read and
// checked again, which takes about 20 µs for a page.
const fileBytes = 12 << 20

// Options configure a Host.
type Options struct {
	Dir          string // the data folder of the service
	CompileCache string // folder of the machine code of WebAssembly; "" for none
	Tool         string // name of this program in the ledger of migrations
	MailNote     string // where people read sign-in mails that are not sent out
	Memory       *pagesruntime.HostMemory
	Images       *images.Queue
	// Engine runs the Workers. If its Pool is nil, the host makes one for the machine.
	Engine siteworker.Choice
	Now    func() time.Time
	Logger *slog.Logger
}

// New makes the host of a data folder. It starts the engine and each site at the first use.
func New(ctx context.Context, o Options) (*Host, error) {
	if err := errors.Join(boundTemporary(), boundRehearsals()); err != nil {
		return nil, err
	}
	h := &Host{
		o: o, dir: filepath.Join(o.Dir, "sites"), until: context.WithoutCancel(ctx), files: site.NewFileCache(fileBytes),
		sites: map[string]*hostedSite{}, previews: map[string]*hostedSite{},
		maxOpen: openSites(mostFiles()), maxRequests: max(minRequests, MaxConns()/4),
		maxMigrate: migrationTime, bounds: localstate.Bounds{Bytes: databaseBytes, Temporary: temporaryFS},
		rehearsals: newRehearsing(maxRehearsals, rehearsalWait), judging: newRehearsing(maxRehearsals, migrationTime),
		limits: rehearsalLimits{time: rehearsalTime, bytes: rehearsedBytes, spare: spareDisk},
		notice: func(error) {}, arrived: func(string) {},
	}
	h.engine = sync.OnceValue(func() *siteworker.Engine {
		return siteworker.OpenEngine(h.until, h.choice(), pagesruntime.Options{CacheDir: o.CompileCache, Now: o.Now, Memory: o.Memory})
	})
	var err error
	if h.outside, err = site.NewOutside(); err != nil {
		return nil, err
	}
	// Previews without a name start empty with each start of the service.
	old, err := filepath.Glob(filepath.Join(h.dir, "*", previewsFolder))
	for _, dir := range old {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// choice is the engine with the bounds on its processes.
func (h *Host) choice() siteworker.Choice {
	c := h.o.Engine
	if c.Program == nil {
		return c
	}
	var pool workerd.PoolOptions
	if c.Pool != nil {
		pool = *c.Pool
	}
	pool.Now, pool.Logger = h.o.Now, h.o.Logger
	if pool.Processes == 0 {
		pool.Processes = min(pool.WithDefaults().Processes, processes(mostFiles()))
	}
	c.Pool = &pool
	return c
}

// Observe sets the functions that take errors of databases, and the site of each new lead.
func (h *Host) Observe(failed func(error), arrived func(site string)) {
	h.notice, h.arrived = failed, arrived
}

// Close ends all sites, after the last request has ended.
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
		errs = append(errs, h.engine().Close(h.until))
	}
	return errors.Join(errs...)
}

// place returns a site, or a preview, which may not be open yet.
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

// Leads implements service.Host.
func (h *Host) Leads(ctx context.Context, id string, after int64, most int) (all []service.Captured, err error) {
	name := filepath.Join(h.dir, id, statefolder.PlatformFile)
	if !userfile.IsFile(name) {
		return nil, nil
	}
	db, err := localstate.OpenDatabase(ctx, name, true)
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
		if l.Spam != nil {
			one.Spam = &toolapi.LeadSpam{Score: l.Spam.Score, Reasons: []toolapi.SpamReason{}}
			for _, r := range l.Spam.Reasons {
				one.Spam.Reasons = append(one.Spam.Reasons, toolapi.SpamReason(r))
			}
		}
		for _, e := range l.Raised {
			one.Events = append(one.Events, toolapi.LeadEvent{ID: e.ID, Name: e.Name})
		}
		all = append(all, one)
	}
	return all, err
}
