// Package service is the tool API itself (platform document, sections 1 to 9), on a SQLite file of its own: `pages
// platform` serves it, and clients are tested against it.
//
// Input: a path and Options (Open). Output: an http.Handler, with REST, MCP (mcp.go) and pages for people (console.go).
// Run publishes due schedules and removes expired rows. A Host runs the published sites. Every change is one transaction
// with its audit row and its response for retries, and is synced before the response. Several processes may open one
// file; each call looks up its key, so that a key that another process revoked is refused at once.
//
// Refusals are toolapi's; Open and the operator's functions (CreateKey, Seed, …) return ordinary errors, *UnknownError
// for an unknown name. All functions may be called concurrently.
package service

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// Options of a service. The zero value is the platform's configuration.
type Options struct {
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Elapsed is a monotonic clock for the rate windows. Default the time since Open.
	Elapsed func() time.Duration
	// PerMinute is the cap of a key without its own, in calls a minute. Default 60.
	PerMinute int
	// UploadsPerMinute is the cap of a key in blobs a minute. Default 100 times PerMinute.
	UploadsPerMinute int
	// Dir is the folder for uploaded files and the key that encrypts secrets. Default the folder of the database.
	Dir string
	// Host runs the published sites. Default none: the service only serves the API.
	Host Host
	// Mail sends a message. Default none: no mail is sent, and members cannot sign in on pages.
	Mail func(context.Context, Mail) error
	// LeadMail sends a mail on a lead. The service may call it again for the same mail, even after a success. A
	// [PermanentMailError] ends the attempts. Default none: mails stay queued.
	LeadMail func(context.Context, LeadMail) error
	// LookUpTXT returns the TXT records of a DNS name, which ends in a dot, or a *net.DNSError with IsNotFound. Default
	// the system's resolver.
	LookUpTXT func(ctx context.Context, name string) ([]string, error)
	// Logger gets one line for each request and each failure. Default none.
	Logger *slog.Logger
}

// Service is a running tool API.
type Service struct {
	db        *database
	failStop  failStop
	now       func() time.Time
	elapsed   func() time.Duration
	perMinute int
	log       *slog.Logger
	limits    *limiter
	metrics   metrics
	used      lastUse
	tools     map[string]handler
	mcp       func() http.Handler // made for the first message
	cursorKey []byte              // key of cursors

	dir            string
	sendsPerMinute int
	sends          *limiter
	host           Host
	mail           func(context.Context, Mail) error
	sendLeadMail   func(context.Context, LeadMail) error
	leadMails      leadMails
	lookUp         func(context.Context, string) ([]string, error) // of TXT records
	locks          siteLocks
	uploadUses     uploadUses
	arrivals       arrivals
	lists          recentCache[int64, blobList]       // by bundle: each sent blob is looked up in one
	comparisons    recentCache[[2]int64, *comparison] // by two bundles: people look at proposals more than once
	pace           atomic.Int64                       // the time to wait for the next bytes of a body
	collecting     sync.Mutex
	unpacking      chan struct{} // one item for each archive in progress
	looking        chan struct{} // one item for each search for secrets
	publishing     sync.Map      // workspaces with a scheduled publish in progress

	opening sync.Mutex // guards the fields below
	blobs   *blob.Store
	master  []byte
}

// Open opens the service on the database file at path, which it makes when it is missing. Close releases it. A database
// that is damaged, or empty beside uploaded files, is a [*DamagedError].
func Open(ctx context.Context, path string, o Options) (*Service, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Elapsed == nil {
		opened := o.Now() // a real clock includes the monotonic reading
		o.Elapsed = func() time.Duration { return o.Now().Sub(opened) }
	}
	if o.PerMinute == 0 {
		o.PerMinute = defaultPerMinute
	}
	if o.UploadsPerMinute == 0 {
		o.UploadsPerMinute = min(o.PerMinute*sendsPerCall, maxSendsPerMinute)
	}
	if o.Dir == "" {
		o.Dir = filepath.Dir(path)
	}
	if o.LookUpTXT == nil {
		o.LookUpTXT = net.DefaultResolver.LookupTXT
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	db, err := openDatabase(ctx, path, blobsIn(o.Dir), o.Now)
	if err != nil {
		return nil, err
	}
	failed, fail := context.WithCancelCause(context.WithoutCancel(ctx))
	s := &Service{
		db: db, failStop: failStop{failed, fail}, now: o.Now, elapsed: o.Elapsed, perMinute: o.PerMinute, log: o.Logger,
		limits:  newLimiter(o.Elapsed),
		metrics: metrics{calls: map[requestLabels]int64{}, took: map[string]*histogram{}}, used: lastUse{keys: map[int64]int64{}},
		dir: o.Dir, sendsPerMinute: o.UploadsPerMinute, sends: newLimiter(o.Elapsed), host: o.Host, mail: o.Mail,
		sendLeadMail: o.LeadMail, leadMails: leadMails{wake: make(chan struct{}, 1)},
		lookUp: o.LookUpTXT, arrivals: arrivals{sites: map[string]bool{}, any: make(chan struct{}, 1)},
		lists: recentCache[int64, blobList]{most: maxLists}, unpacking: make(chan struct{}, maxUnpacked),
		looking: make(chan struct{}, leakReaders), comparisons: recentCache[[2]int64, *comparison]{most: maxComparisons},
	}
	s.pace.Store(int64(paceTime))
	db.writing.noticed = s.Notice
	s.tools = bind(toolapi.NewContract())
	s.mcp = sync.OnceValue(func() http.Handler { return serveMCP(s.mcpServer(s.mcpOptions())) })
	if s.cursorKey, err = s.loadCursorKey(ctx); err != nil {
		return nil, errors.Join(err, db.close())
	}
	return s, nil
}

// Close closes the database. Calls and Run must have ended.
func (s *Service) Close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	var err error
	if s.blobs != nil {
		err = s.blobs.Close()
	}
	return errors.Join(err, s.db.close())
}

// bind gives each tool of the contract its code.
func bind(c *toolapi.Contract) map[string]handler {
	verify := bindTool(c.Verify, moveDomains, (*call).verify)
	verify.prepare = lookUpDomainProof
	rehearse := bindTool(c.Rehearse, uploadPages, (*call).rehearseTool)
	rehearse.prepare = rehearseText
	mark := bindTool(c.MarkLead, publishPages, (*call).markLead)
	mark.prepare = markOnSite
	points, restore := bindTool(c.RestorePoints, read, (*call).restorePoints), bindTwoCall(c.RestoreData, publishPages, (*call).restoreData)
	points.prepare, restore.prepare = loadPoints, loadPoints
	all := map[string]handler{}
	for _, h := range []handler{
		bindTool(c.Revisions, read, (*call).revisions),
		bindTool(c.ListSecrets, read, (*call).listSecrets),
		bindTool(c.SetSecret, publishPages, (*call).setSecret),
		bindTool(c.RemoveSecret, publishPages, (*call).removeSecret),
		bindTool(c.Leads, read, (*call).leads),
		bindTool(c.Settings, read, (*call).siteSettings),
		bindTwoCall(c.ChangeSettings, publishPages, (*call).changeSettings),
		bindTool(c.BrandProfileStatus, read, (*call).brandProfileStatus),
		bindTool(c.ContentStatus, read, (*call).contentStatus),
		bindTool(c.ScheduleRead, read, (*call).scheduleRead),
		bindTwoCall(c.SchedulePublish, publishPages, (*call).schedulePublish),
		bindTwoCall(c.PointAtSite, moveDomains, (*call).pointAtSite),
		bindReplayed(c.UndoDraft, editDrafts, (*call).undoDraft),
		bindReplayed(c.RedoDraft, editDrafts, (*call).redoDraft),
		bindReplayed(c.DiscardDraft, editDrafts, (*call).discardDraft),
		bindTool(c.TryShape, planShorts, (*call).tryShape),
		bindTool(c.SetPrimaryVariant, curate, (*call).setPrimaryVariant),
		bindTool(c.RecommendStyle, read, (*call).recommendStyle),
		bindReplayed(c.CreatePage, createPages, (*call).createPage),
		bindTool(c.PageList, read, (*call).pageList),
		bindTwoCall(c.Publish, publishPages, (*call).publish),
		bindTwoCall(c.Rollback, publishPages, (*call).rollback),
		bindTool(c.Unschedule, publishPages, (*call).unschedule),
		bindTool(c.DomainList, read, (*call).domainList),
		bindTwoCall(c.Connect, moveDomains, (*call).connect),
		verify, rehearse, points, restore, mark,
	} {
		all[h.tool.Name] = h
	}
	return all
}
