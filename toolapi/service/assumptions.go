package service

import "time"

// This file lists the choices of the service on points that the platform document leaves open. All of them may change without a change of
// the contract.
//
// Order of refusals. Method, credential (401), access (403), rate (429), then the request itself. So a client without a
// key does not learn the names of tools, and 401 and 403 use no quota.
//
// Host. A request for another host than this machine's own gets 403, before anything else is checked.
//
// Workspaces. An override that disagrees with the key's pin, or that the holder does not reach, is workspace_unreachable.
// A stored default that is no longer reached is ignored.
//
// Confirmations. A member's proposal is confirmed by the same member; a service account's by any member of the workspace who may do
// the thing, as long as the account may still do it and the key that proposed is not revoked. An id of another person, tool or
// workspace gets the response for an unknown one. A proposal whose target changed is stale. A second confirmation gets the first
// response again. A newer proposal of the same holder replaces an older one about the same thing: the live revision of a site
// (page.publish, page.rollback), its schedule, or the target of a domain; those of other people stay. An identical call with an
// identical effect keeps its id and extends its life. The refusal of a stale proposal gives the reason, and so does the console. A
// holder may have maxProposals open in a workspace; a new one replaces the oldest.
//
// Idempotency. Every response of the tool itself is stored, refusals included, in the transaction of the effect.
// Boundary refusals, invalid_arguments and refusals of workspace or permission are not stored.
//
// MCP. Every request message counts against the rate, and a body without one counts as one. An Origin must be the
// service's own. Arrays are accepted for 2025-03-26, the default revision; their messages run one after another. A body
// that is refused as a whole gets the Error envelope; an unsupported revision is -32022 with the supported ones; an
// unknown method is -32601, with 404 in the newest revision and 400 before. The Idempotency-Key header goes with a body of
// one call; as an argument the key is not deprecated here, where headers are the client's and not the agent's.
//
// Console. It signs in with a key, for sessionLife, and calls the tools as its holder, without using the rate window. A person who
// could approve a proposal may reject it, which is audited. A revision that waits for approval is compared with the live revision of
// that moment.
//
// Uploads. Method and credential are checked first, then workspace and site, then the bundle. Editors may upload;
// publishing needs its own permission. The bytes of an existing blob are checked too. An idempotency key of another
// request gives 422, a body that comes too slowly 408. At the limit of open uploads, a new one replaces the longest idle
// one, which expires; an upload in progress is never replaced. Uploaders see the uploads of a site and may cancel their
// own; publishers may cancel those of others. The contents of a revision are read at RevisionsPath. Modes in an archive,
// setuid included, are ignored: no file becomes executable.
//
// Workers. The entry of an upload is one module, as pages build makes it, with its WebAssembly modules beside it: the service does
// not bundle, since a bundler would read files that an upload names. A bundle with neither entry nor assets serves all its files.
// The flags of a wrangler.json among its files are checked once its text is stored: a flag that the platform does not accept is
// manifest_invalid, by name, when the upload is finalized.
//
// Publishing first prepares the revision (verifies new files, starts the Worker, runs migrations up to their commit), then moves
// the pointer, then commits. The next start completes a publish that was killed in between, before it serves the page. A revision
// that lacks a migration of the database is schema_ahead unless force is set. A schedule that fails is cancelled. A schedule
// belongs to the page, as the live revision does: it stays when the key that confirmed it is revoked or its holder leaves the
// workspace; page.list shows it, and any member who may publish can cancel it.
//
// Rehearsals. The migrations of a revision run on a copy of the page's database when it is proposed, outside of any transaction, and
// once more before they are applied. A proposal stores the losses that it showed a person. The approval covers, for each named table
// and column, up to the number of rows that the proposal showed; any number if it was not rehearsed, or if a comment in the migration
// allows it. Proposals and schedules of older versions showed no losses, so any loss is refused. Editors may rehearse and upload.
//
// Restores. By default a restore also brings back the code from that time, which matches its tables. The transaction of the second call
// decides; a host that was killed before it restored the data does so at its next start, before it serves the page. The approval covers
// the tables that the proposal showed, including rows that arrived later, which the preceding restore point holds; no other table loses
// rows. Members who may publish may restore.
//
// Previews. The arguments of a preview link are refused with 422, as the upload protocol has it, and those of uploads
// and imports with 400. Previews have databases and a namespace of their own, copied from the live ones at the first
// request, and an empty bucket; they last until the link expires or the service ends. To bound these copies, a site has at
// most maxPreviews valid links: the next one is too_many_previews, and no existing link ends for it.
//
// Named previews are part of neither the document nor the upload protocol: PreviewsPath of toolapi is an assumption. The
// address of a named preview follows from its id, so that it can be shown again; its data last until it is removed or
// expires, across restarts. Links to each of its last revisions have their own data, initialized in the same way. A site
// has at most MaxNamedPreviews, besides maxPreviews links.
//
// Leads. The response to a form follows once the page has stored the lead; the service then moves it into the workspace,
// exactly once. Every member may read leads (page.leads). A page of results ends at leadBytes, since JSON may encode a
// byte as six.
//
// Audit trail. It keeps a call for auditLife. It has no bound on the number of calls, so that a flood cannot evict older ones; the
// rate limits of the keys bound it.
//
// Disk. After a failed fsync the service acknowledges nothing more, and the process ends.
//
// Sign-in on pages. A mailed link is valid once and for signInLife. A GET of it does not sign in.
//
// Cursors are valid for the key, the workspace and the filters they were made for.
//
// Pages. The address of a page is made from its name, below localhost. A name that ends in .localhost answers on this
// machine at once, and needs no proof.
//
// Domains. Any other name is a workspace's once DNS has the TXT record that the service asks that workspace for, below
// _pages-challenge and the domain: to set it takes the zone, which a file on a web server would not prove. domain.verify
// looks it up. Until then the domain is pending: it serves nothing and reserves nothing, so that several workspaces may
// have one pending name and the first that proves it gets it. A domain without proof is removed after proofLife. Public
// suffixes (publicsuffix.org) cannot be connected. The proof is checked once: a domain stays connected after its record is
// removed.
//
// Schedule. Its week starts on Monday, in the workspace's time zone. A piece is in the column of the day it is scheduled
// for.
//
// Looks are judged by the views of the pieces made in each: the Mann-Whitney test of a look against all others, one-sided, at
// lookAlpha divided by the number of looks compared.
//
// Tried shapes. Without a board the client holds the plan of the next week (already_tried) and nothing is stored; with a
// board the card is added to its week.
const (
	proposalLife = 15 * time.Minute
	answerLife   = 48 * time.Hour // of responses stored for retries
	cursorLife   = 24 * time.Hour
	auditLife    = 365 * 24 * time.Hour
	proofLife    = 7 * 24 * time.Hour // of a domain without proof
	signInLife   = 15 * time.Minute

	maxProposals      = 50 // open ones of one holder in one workspace
	maxSummary        = 500
	maxNames          = 20 // names of one kind in a proposal
	maxComparisons    = 50 // cached
	maxLists          = 8  // of blobs, cached
	maxBundles        = 2  // with their lists of files, cached: up to about 4 MB each
	maxSites          = 1000
	maxPendingDomains = 50  // of a workspace
	maxKeys           = 50  // valid ones of one person, made in the console
	maxPreviews       = 200 // valid links of a site: one for every push of a day
	maxSignInLinks    = 5   // unused ones of one person on one page
	lookUpTime        = 10 * time.Second
	minLateNote       = time.Minute // from which the audit trail notes that a schedule was fulfilled late

	defaultPerMinute  = 60 // calls of a key without its own cap
	rateWindow        = time.Minute
	sendsPerCall      = 100 // blobs a minute for each call a minute
	maxSendsPerMinute = 1_000_000

	// An upload expires after uploadIdle without use, and its id is remembered for uploadMemory. A use is recorded at
	// most every touchStep.
	uploadIdle    = 24 * time.Hour
	uploadMemory  = 7 * 24 * time.Hour
	touchStep     = time.Minute
	sendingGap    = 10 * time.Second // after a blob, for which its client still counts as sending
	keptBlobs     = 24 * time.Hour   // of a bundle that nothing refers to
	keptRevisions = 100              // of a site
	maxUnpacked   = 4                // concurrent archives, since each holds a file in memory
	// A body must bring paceBytes every paceTime.
	paceBytes = 8 << 10
	paceTime  = 15 * time.Second

	defaultPageSize = 25
	leadBytes       = 1 << 20

	planSize    = 7 // shorts of a week before any shape is tried
	lookAlpha   = 0.05
	lookResults = 8 // fewer prove nothing
	maxLooks    = 2

	pollInterval    = time.Second
	cleanInterval   = time.Minute
	cleanedRows     = 10_000 // of the audit trail at once: other writers wait
	collectInterval = 10 * time.Minute

	busyTimeout = 10 * time.Second
	readers     = 4 // connections
)

// brandSections are the parts of a brand profile.
var brandSections = []string{"about", "audience", "voice", "offers", "proof", "visuals", "booking"}
