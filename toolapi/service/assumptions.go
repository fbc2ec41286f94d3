package service

import "time"

// This file holds the choices of the service where the platform document leaves a point open. All of them may change without a change of
// the contract.
//
// Order of refusals. Method, credential (401), access (403), rate (429), then the request itself. So a client without a
// key does not learn which tools there are, and 401 and 403 cost no quota.
//
// Host. A request for another host than this machine's own gets 403, before anything else is checked.
//
// Workspaces. An override that disagrees with the key's pin, or that the holder does not reach, is workspace_unreachable.
// A stored default that is no longer reached is ignored.
//
// Confirmations. A member's proposal is confirmed by the same member; a service account's by any member of the workspace
// who may do the thing, as long as the account may still do it and the key that proposed is not revoked. An id of someone
// else, of another tool or of another workspace is answered as an unknown one. A proposal whose target changed is stale.
// Confirming twice repeats the first answer. A newer proposal of the same holder replaces an older one about the same thing: the live
// revision of a site (page.publish, page.rollback), its schedule, or the target of a domain; those of other people stay. The same call
// once more, with all that it shows, keeps its id and expires later. The refusal of one that cannot be confirmed any more says what
// happened, as the console does. A holder may have maxProposals open in a workspace; a new one replaces the oldest.
//
// Idempotency. Every answer of the tool itself is kept, refusals included, in the transaction of the effect. Boundary
// refusals, invalid_arguments and refusals of workspace or permission are not kept.
//
// MCP. Every request message counts against the rate, and a body without one counts as one. An Origin must be the
// service's own. Arrays are accepted for 2025-03-26, the default revision; their messages run one after another. A body
// that is refused as a whole gets the Error envelope; an unsupported revision is -32022 with the supported ones; an
// unknown method is -32601, with 404 in the newest revision and 400 before. The Idempotency-Key header goes with a body of
// one call; as an argument the key is not deprecated here, where headers are the client's and not the agent's.
//
// Console. It signs in with a key, for sessionLife, and calls the tools as its holder; it draws on no rate window. A
// proposal lapses by a person who could approve it, and that is audited. A revision that waits for approval is compared with the live
// revision of that moment.
//
// Uploads. Method and credential are checked first, then workspace and site, then the bundle. Editors may upload; who may
// publish may publish. A blob that exists is checked all the same. An idempotency key that was used for another request is
// answered with 422, a body that comes too slowly with 408. A site that has as many open uploads as it may opens one more
// in the place of the one that was unused for longest, which then is an expired one; one that a client sends to keeps its
// place. Uploaders see the uploads of a site and end their own; who may publish ends those of others. The contents of a
// revision are read at RevisionsPath. The modes in an archive are ignored, setuid too: nothing of it becomes an executable
// file.
//
// Workers. The entry of an upload is one module, as pages build makes it, with its WebAssembly modules beside it: the
// service bundles nothing, since a bundler would read the files that an upload names. A bundle with neither entry nor assets serves
// all its files. The flags of a wrangler.json among its files are checked once its text is stored: a flag that the platform
// does not accept is manifest_invalid, by name, when the upload is finalized.
//
// Publishing prepares the revision first (files that were not read since they were stored, Worker, migrations up to their
// commit) and moves the pointer then; the commit follows, and the next start completes a publish that was killed in between, before
// anybody sees the page. A revision that lacks a migration of the database is schema_ahead unless force is set. A schedule that
// cannot be fulfilled is called off. A schedule belongs to the page, as the live revision does: it stays when the key that
// confirmed it is revoked or its holder leaves the workspace; page.list shows it, and any member who may publish calls it
// off.
//
// Rehearsals. The migrations of a revision run on a copy of the page's database when it is proposed, outside of any
// transaction, and once more before they are applied. A proposal keeps the losses that it showed a person. Approved are, of each table
// and column that was named, the rows that the proposal showed: fewer may be lost, and not more; any number where it was not
// rehearsed, or where a comment in the migration allows it. A proposal or schedule of an older version showed no losses: any loss is
// refused. Editors may rehearse, as they may upload.
//
// Restores. A restore point goes back with the code that was live then, unless the call says otherwise: its tables are those
// that this code knows. The transaction of the second call decides; a host that was killed before it had restored the data does so at its
// next start, before anybody sees the page. Approved are the tables that the proposal showed: more of their rows may have come since,
// which are in the restore point that is made first, and no other table loses any. Who may publish may restore.
//
// Previews. The arguments of a preview link are refused with 422, as the upload protocol has it, and those of uploads
// and imports with 400. Previews have databases and a namespace of their own, copied from the live ones at the first
// request, and an empty bucket; they last until the link expires or the service ends. To bound these copies, a site has at
// most maxPreviews valid links: the next one is too_many_previews, and no existing link ends for it.
//
// Previews with a name are no part of the document, nor of the upload protocol: PreviewsPath of toolapi is an assumption. A
// name's link has an address that follows from its id, so that it can be shown again; its data last until it is removed or
// expires, also when the service starts anew. A link to each of its last revisions has data of its own, as a link without a
// name has, which begin as those of the name do. A site has at most MaxNamedPreviews, which count beside maxPreviews.
//
// Leads. A form is answered when the page has the lead; the service takes it into the workspace right after, once. Every
// member may read leads (page.leads). A page of them ends where it holds leadBytes, since JSON may write a byte as six.
//
// Audit trail. It keeps a call for auditLife. It has no bound by number: a flood would then push out the older calls, and the rates of
// the keys bound the calls of that time.
//
// Disk. After an fsync that failed nothing is acknowledged any more, and the process ends.
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
// looks it up. Until then the domain is pending: it serves nothing and reserves nothing, so that several workspaces
// may have one pending name and the first that proves it gets it. A domain without proof is removed after proofLife. Names
// below which anybody may have one (publicsuffix.org) cannot be connected. The proof is looked up once: a domain stays its
// workspace's when the record goes.
//
// Schedule. Its week starts on Monday, in the workspace's time zone. A piece is in the column of the day it is scheduled
// for.
//
// Looks are judged by the views of the pieces made in each: the Mann-Whitney test of a look against all others, one-sided, at
// lookAlpha divided by the number of looks compared.
//
// Tried shapes. Without a board the next week is a plan that the client holds (already_tried) and nothing is stored; with
// one the card is added to the board's week.
const (
	proposalLife = 15 * time.Minute
	answerLife   = 48 * time.Hour // of answers kept for retries
	cursorLife   = 24 * time.Hour
	auditLife    = 365 * 24 * time.Hour
	proofLife    = 7 * 24 * time.Hour // of a domain without proof
	signInLife   = 15 * time.Minute

	maxProposals      = 50 // open ones of one holder in one workspace
	maxSummary        = 500
	maxNames          = 20 // of one kind that a proposal shows
	maxComparisons    = 50 // cached
	maxLists          = 8  // of blobs, cached
	maxBundles        = 2  // with their lists of files, cached: some 4 MB each where they are as large as may be
	maxSites          = 1000
	maxPendingDomains = 50  // of a workspace
	maxKeys           = 50  // valid ones of one person, made in the console
	maxPreviews       = 200 // valid links of a site: of a day, one for every push
	maxSignInLinks    = 5   // unused ones of one person on one page
	lookUpTime        = 10 * time.Second
	minLateNote       = time.Minute // from which the audit trail notes that a schedule was fulfilled late

	defaultPerMinute  = 60 // calls of a key without its own cap
	rateWindow        = time.Minute
	sendsPerCall      = 100 // blobs a minute for each call a minute
	maxSendsPerMinute = 1_000_000

	// An upload expires after uploadIdle without use, and its id is remembered for uploadMemory. A use is written down at
	// most every touchStep.
	uploadIdle    = 24 * time.Hour
	uploadMemory  = 7 * 24 * time.Hour
	touchStep     = time.Minute
	sendingGap    = 10 * time.Second // after a blob, for which its client still counts as sending
	keptBlobs     = 24 * time.Hour   // of a bundle that nothing refers to
	keptRevisions = 100              // of a site
	maxUnpacked   = 4                // archives at a time, since one has a file of its own in memory
	// A body must bring paceBytes every paceTime.
	paceBytes = 8 << 10
	paceTime  = 15 * time.Second

	defaultPageSize = 25
	leadBytes       = 1 << 20

	planSize    = 7 // shorts of a week before any shape is tried
	lookAlpha   = 0.05
	lookResults = 8 // fewer are no evidence
	maxLooks    = 2

	pollInterval    = time.Second
	cleanInterval   = time.Minute
	cleanedRows     = 10_000 // of the audit trail, at a time: other writers wait meanwhile
	collectInterval = 10 * time.Minute

	busyTimeout = 10 * time.Second
	readers     = 4 // connections
)

// brandSections are the parts of a brand profile.
var brandSections = []string{"about", "audience", "voice", "offers", "proof", "visuals", "booking"}
