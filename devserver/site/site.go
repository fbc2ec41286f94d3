// Package site is the front door of one site: it takes every request, applies the members gate, and answers from the static files, from the
// Worker or from the platform's own pages under "/__pages/".
//
// Input: a [Revision], which [Site.Swap] replaces atomically, and HTTP requests. Output: responses, a [RequestRecord] for each, and, for
// form posts, a [Lead] with its [Event] list, stored durably before the response. A request passes: [Canonical] (one path value or a 400),
// host check, reserved paths, members gate, route table, Worker or static index. All of them use that one path value, and the gate also its
// other readings. A [Routing] decides, and explains without a request: [Routing.Explain]. With [Options.Pairing], clients beyond this
// machine find less under "/__pages/", and can sign in after they are paired.
//
// [New] and [OpenStore] return errors of their database. Mistakes of clients become responses, never errors: a page for
// browsers, and {"ok":false,"error":{"code","message"}} for others.
//
// A Site and a Store are safe for concurrent use. Requests in flight during a Swap finish on the revision they began on.
//
// The package does not listen, compile or run code, watch files, read configuration or open databases. It connects only to its [Webhook].
package site

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/devserver/altcha"
	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/pairing"
	"github.com/pages-toolchain/pages/devserver/spam"
)

// Options configure a site. Only DB must be set.
type Options struct {
	// DB is the platform's database of this site, with synchronous=FULL. The site creates and owns its tables.
	DB *sql.DB
	// SubmissionsDB is the site's own database, or nil. Form posts are copied into the table that the manifest's
	// "submissions" names.
	SubmissionsDB *sql.DB
	// Files stores the files that come with forms. Nil stores none: the lead has only the [File].
	Files Files
	// StillThere is called after a lead is stored, before the response: an error means that the lead is lost, since the file of DB was
	// removed. Nil skips the check.
	StillThere func() error
	// Cache holds the served files. Nil means a cache for this site, of 64 MiB.
	Cache *FileCache
	// AllowHost decides which names the site answers to. It gets the host in lower case without port, brackets and
	// trailing dot. Nil means [loopback.Name].
	AllowHost func(host string) bool
	// Personas are the personas until [Site.SetPersonas]. Nil means [DefaultPersonas], an empty slice no persona.
	Personas []Persona
	// SignedInAs is the key or the email of the persona of clients that have neither signed in nor out. Default none.
	// [Site.SetSignedInAs] changes it. It does not hold for requests from pages of other sites and from the site's own Worker.
	SignedInAs string
	// Links signs people in by a link in a mail, and excludes any other way. Nil means sign-in as a persona, or with only an email.
	Links Links
	// MailNote describes where people read a mail of Links that is not sent out. Default "".
	MailNote string
	// IsMember reports on every members request whether the signed-in person is a member now. Nil means: everybody
	// except the outsider personas.
	IsMember func(ctx context.Context, m Member) bool
	// Workspace is the slug that sign-in pages and the state document show. Default "dev".
	Workspace string
	// Pairing decides which browsers beyond this machine may sign in. With it, clients from there get the site, its forms, the reload
	// script and its stream, and nothing else under "/__pages/". Nil treats all clients alike.
	Pairing *pairing.Codes
	// Control answers the paths under "/__pages/" that the site does not answer itself. Nil means 404.
	Control http.Handler
	// ErrorPage answers for a Worker that returned an error, before anything was written. Nil means a plain page with
	// status 500.
	ErrorPage func(w http.ResponseWriter, r *http.Request, err error)
	// Trace records the spans of each request, for OnRequest.
	Trace bool
	// OnRequest is called after each request, on the request's goroutine.
	OnRequest func(RequestRecord)
	// OnLead is called after a lead was stored, on the request's goroutine.
	OnLead func(Lead)
	// OnEvent is called after an event was stored, on the request's goroutine.
	OnEvent func(Event)
	// Webhook gets every event. Nil means none.
	Webhook *Webhook
	// OnDelivery is called after each attempt to deliver an event to the webhook, with its outcome, on goroutines of the
	// site: for several forms at a time.
	OnDelivery func(Event)
	// SpamOff turns the spam filter off, until [Site.SetSpamFilter].
	SpamOff bool
	// ProofOfWork asks for a proof of work with each form, until [Site.SetProofOfWork].
	ProofOfWork bool
	// Preview marks leads as such; they raise no events. Pages get a banner for it.
	Preview bool
	// PreviewName is the name of the preview, for its banner. "" for none.
	PreviewName string
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
	// DatabaseFailed gets each error of the platform's database that a client gets a refusal for. Nil ignores them.
	DatabaseFailed func(error)
	// Logger gets errors without a response. Nil discards them.
	Logger *slog.Logger
	// DevHints is true for a site on its author's machine: pages have advice, and the JSON documents under "/__pages/api/" are open to
	// everybody whom Pairing does not exclude. Otherwise they need a signed-in member.
	DevHints bool
}

// Site serves one site. Make it with [New], end it with [Site.Close].
type Site struct {
	options  Options
	store    *Store
	sessions *sessions
	pages    *pages
	events   *broker
	requests *ring

	people   atomic.Pointer[[]Persona]
	standing atomic.Pointer[string] // Options.SignedInAs, as set now

	spamOff  atomic.Bool // Options.SpamOff, as set now
	proofs   atomic.Bool // Options.ProofOfWork, as set now
	history  *spam.History
	stampKey []byte

	challenges *altcha.Challenges

	retrier    *retrier
	dispatcher *dispatcher     // nil without a webhook
	work       context.Context // of background work, until Close
	stop       context.CancelFunc

	foreignTold told // origins of refused requests
	unaskedTold told // forms with answers that fill no column
	scriptsTold told // origins of scripts whose forms were refused
	hinted      told // messages for the author

	current atomic.Pointer[serving]
	swap    sync.Mutex     // held while a new revision replaces the old one
	drains  sync.WaitGroup // of the goroutines that run Revision.Drained, the retrier and the dispatcher
}

var errNoDatabase = errors.New("site: Options.DB is nil")

// New makes a site without a revision: every page is a 404 until [Site.Swap]. It creates the tables in the platform database and retries
// interrupted submissions. The error is the database's.
func New(ctx context.Context, options Options) (*Site, error) {
	if options.DB == nil {
		return nil, errNoDatabase
	}
	options = options.withDefaults()
	store, err := OpenStore(ctx, options.DB, StoreOptions{Now: options.Now})
	if err != nil {
		return nil, err
	}
	s := &Site{
		options: options, store: store, events: newBroker(), requests: &ring{records: make([]RequestRecord, keptRequests)},
		history: spam.NewHistory(),
	}
	if s.stampKey, err = store.madeSecret(ctx, "stamp_key"); err != nil {
		return nil, err
	}
	challengeKey, err := store.madeSecret(ctx, "altcha_key")
	if err != nil {
		return nil, err
	}
	s.challenges = altcha.New(challengeKey)
	s.SetSpamFilter(!options.SpamOff)
	s.SetProofOfWork(options.ProofOfWork)
	if s.pages, err = newPages(options); err != nil {
		return nil, err
	}
	if s.sessions, err = newSessions(ctx, options); err != nil {
		return nil, err
	}

	s.SetPersonas(options.Personas)
	s.SetSignedInAs(options.SignedInAs)
	s.current.Store(s.newServing(Revision{}))
	s.retrier = &retrier{store: store, site: s}
	if options.SubmissionsDB != nil {
		if s.retrier.unfinished, err = store.retrySubmissions(ctx, options.SubmissionsDB, false); err != nil {
			return nil, err
		}
	}
	if err := s.dropUnfinished(ctx); err != nil {
		return nil, err
	}
	s.work, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	if options.Webhook != nil {
		s.dispatcher = newDispatcher(s, *options.Webhook)
		s.drains.Go(func() { s.dispatcher.run(s.work) })
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.AllowHost == nil {
		o.AllowHost = loopback.Name
	}
	if o.Personas == nil {
		o.Personas = DefaultPersonas()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Cache = cmp.Or(o.Cache, NewFileCache(cacheBytes))
	o.Workspace = cmp.Or(o.Workspace, "dev")
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o
}

// Store returns the leads and events of the site.
func (s *Site) Store() *Store { return s.store }

// Revision returns the current revision.
func (s *Site) Revision() Revision { return s.current.Load().revision }

// Swap serves the next revision and returns the previous one. Requests that began earlier finish on the old one; [Revision.Drained] is
// called after the last. It retries pending and refused submissions: the table may have changed.
func (s *Site) Swap(next Revision) (previous Revision) {
	previous = s.replace(next)
	s.retrier.mu.Lock()
	defer s.retrier.mu.Unlock()
	s.retrier.begin(true)
	return previous
}

func (s *Site) replace(next Revision) (previous Revision) {
	s.swap.Lock()
	defer s.swap.Unlock()
	old := s.current.Load()
	taking := s.newServing(next)
	taking.static.inherit(old.static, s.options.Now())
	s.current.Store(taking)
	old.release()
	return old.revision
}

// Close ends the event streams, the retries, the deliveries and the current revision, and waits until every Drained has returned. Call it
// after the server has stopped.
func (s *Site) Close() error {
	s.events.close()
	s.stop()
	s.replace(Revision{})
	s.drains.Wait()
	return nil
}
