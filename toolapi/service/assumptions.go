package service

import "time"

// This file holds what the platform document leaves open about how the service
// behaves. Each may change without a change of the contract.
//
// Order of refusals. Method, then credential (401), then access (403), then rate
// (429), then everything about the request itself. So nobody without a key learns
// which tools there are, and 401 and 403 cost no quota.
//
// Host. A request for another host than this machine's own names gets 403, before
// anything else is looked at.
//
// Workspaces. An override that disagrees with the key's pin, or that the holder
// does not reach, is workspace_unreachable. A stored default that is no longer reached is
// passed over.
//
// Confirmations. A member's proposal is confirmed by the same member; a service
// account's by any member of the workspace who may do the thing, as long as the account may
// still do it and the key that proposed is not revoked. An id of someone
// else, of another tool or of another workspace is answered as an unknown one. A
// proposal whose target changed is stale. Confirming twice gives the
// first answer again. A holder may have maxProposals open in a workspace; the oldest make room.
//
// Idempotency. What is kept is any answer of the tool itself, its refusals
// included, in the transaction of the effect. Boundary refusals, invalid_arguments and
// refusals of workspace or permission are not kept.
//
// MCP. Every request message counts against the rate, and a body that holds none counts as
// one. An Origin must be the service's own. Arrays are taken where no revision is named, or
// 2025-03-26 is; their messages run one after another. What a body as a whole is refused for is
// the Error envelope; a revision that is not spoken is -32022 with those that are; a
// method that there is not is -32601, with 404 in the newest revision and 400 before. The
// Idempotency-Key header goes with a body of one call; as an argument the key is not deprecated
// here, where headers are the client's and not the agent's.
//
// The console signs in with a key, for sessionLife, and calls the tools as its holder; it
// draws on no rate window. Letting a proposal lapse is for who could approve it, and is audited.
// A revision that waits for its go-ahead is shown against what is live at that moment.
//
// Uploads. Method and credential are judged before anything else, then workspace and
// site, then the bundle. Who may edit may upload; who may publish may publish. A blob
// that is there already is checked all the same. An idempotency key that was used for
// another request is answered with 422, a body that comes too slowly with 408.
// A site that has as many uploads as may be open takes one more in the place of the one that was idle for longest,
// which is answered as an expired one. One that a client sends to gives no place. Who may upload sees those of a site,
// and ends his own; those of others ends who may publish.
// What a revision holds is read at RevisionsPath. The modes in an archive are passed over, setuid too:
// nothing of it becomes a file that could be run.
//
// What is served. The entry of an upload is one module, as pages build makes it, with
// its WebAssembly modules beside it: the service bundles nothing, since a bundler would
// read what an upload names. A bundle with neither entry nor assets serves all its files.
// The flags of a wrangler.json among its files are looked at once its text is there: what the
// platform does not accept is manifest_invalid, by name, when the upload is finalized.
//
// Publishing makes the revision ready first (files that nobody has read since they were
// stored, migrations, Worker) and moves the pointer then. A revision that does not know
// a migration of the database is schema_ahead unless force is set. A schedule that
// cannot be fulfilled is called off. What was confirmed is done: a schedule is the page's,
// as what is live is, and goes on when the key that confirmed it is revoked or its holder
// leaves the workspace; page.list shows it, and any member who may publish calls it off.
//
// The arguments of a preview link are refused with 422, as test U-101 of the protocol has it, and those of uploads
// and imports with 400.
//
// Previews have databases and a namespace of their own, copied from the live ones at
// the first visit, and an empty bucket; they last until the link expires or the service ends.
// So that these copies are bounded too, a site has at most maxPreviews links that are good: the
// next one is too_many_previews, and none that someone was given ends for it.
//
// Leads. A visitor is answered when the page has the lead; the service takes it into the
// workspace right after, once. Every member may read them (page.leads). A page of them ends
// where it holds leadBytes, since JSON may write a byte as six.
//
// The audit trail keeps a call for auditLife. It has no bound by number: whoever floods it would
// then choose what it forgets, and the rates of the keys bound what comes in that time.
//
// Disk. After an fsync that failed nothing is acknowledged any more, and the process ends.
//
// Sign-in on pages. A link that is mailed, good once and for signInLife. Looking at it
// signs nobody in.
//
// Cursors hold for the key, the workspace and the filters they were given for.
//
// Pages. The address of a page is made from its name, below localhost. A name that
// ends in .localhost answers on this machine at once, and needs no proof: it leads nowhere else.
//
// Domains. Any other name is a workspace's once DNS has, below _pages-challenge and the domain, the TXT record that the
// service asks that workspace for: who may set it holds the zone, which a file on a web server would not say. domain.verify
// looks for it, when it is called. Until then the domain is pending: nothing is served at it, and it stands in nobody's
// way, so that several workspaces may wait for one name and the first that proves it has it. What nobody proves within
// proofLife is forgotten. Names below which anybody may have one (publicsuffix.org) are nobody's. The proof is looked
// for once: a domain stays its workspace's when the record goes.
//
// The schedule's week starts on Monday, in the workspace's time zone. A piece is in the column
// of the day it is scheduled for.
//
// Looks are judged by the views of what was made in each: the Mann-Whitney test of a
// look against all others, one-sided, at lookAlpha divided by the number of looks
// compared.
//
// Tried shapes. Without a board the next week is a plan that the caller holds
// (already_tried) and nothing is stored; with one the card is added to the board's
// week.
const (
	proposalLife = 15 * time.Minute
	answerLife   = 48 * time.Hour
	cursorLife   = 24 * time.Hour
	auditLife    = 365 * 24 * time.Hour
	maxProposals = 50 // open ones of one holder in one workspace
	maxSummary   = 300
	// Of a kind of paths a proposal shows maxNames. maxComparisons are kept in memory, and
	// maxLists of the blobs of bundles.
	maxNames       = 20
	maxComparisons = 50
	maxLists       = 8
	maxSites       = 1000 // of a workspace
	// maxPendingDomains of a workspace wait for their proof.
	maxPendingDomains = 50
	maxKeys           = 50  // of one person, that are good, made in the console
	maxPreviews       = 200 // links of a site that are good: of a day, one for every push

	proofLife  = 7 * 24 * time.Hour
	lookUpTime = 10 * time.Second // for DNS to answer

	toldLate = time.Minute // from when the audit trail says that a schedule was fulfilled late

	// defaultPerMinute is the cap of keys without their own.
	defaultPerMinute = 60
	rateWindow       = time.Minute

	// sendsPerCall is how many blobs a minute may be sent for each call a minute.
	sendsPerCall      = 100
	maxSendsPerMinute = 1_000_000

	// An upload expires after uploadIdle without use, and its id is remembered for
	// uploadMemory. A use is written down at most every touchStep.
	uploadIdle   = 24 * time.Hour
	uploadMemory = 7 * 24 * time.Hour
	touchStep    = time.Minute
	// A client that sent a blob within sendingGap is taken to send still.
	sendingGap = 10 * time.Second
	// keptBlobs is how long the files of a bundle stay that nothing refers to.
	keptBlobs     = 24 * time.Hour
	keptRevisions = 100 // of a site
	// maxUnpacked archives are read at a time, since one has a file of its own in memory; others wait.
	maxUnpacked = 4
	// A body must bring paceBytes every paceTime.
	paceBytes = 8 << 10
	paceTime  = 15 * time.Second

	signInLife     = 15 * time.Minute
	maxSignInLinks = 5 // of one person on one page that are not used yet

	defaultPageSize = 25
	leadBytes       = 1 << 20

	planSize = 7 // shorts of a week before any shape is tried

	lookAlpha   = 0.05
	lookResults = 8 // fewer say nothing
	maxLooks    = 2

	// Every pollInterval the service looks for what is due.
	pollInterval  = time.Second
	cleanInterval = time.Minute
	cleanedRows   = 10_000 // of the audit trail, at most, at a time: others wait to write meanwhile
	// Every collectInterval it removes files that nothing refers to.
	collectInterval = 10 * time.Minute

	busyTimeout = 10 * time.Second
	readers     = 4 // connections that read
)

// brandSections are the parts of a brand profile.
var brandSections = []string{"about", "audience", "voice", "offers", "proof", "visuals", "booking"}
