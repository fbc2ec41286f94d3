package toolapi

import "time"

// This file lists the choices of the contract on points that the platform document leaves open. Each can change independently of the
// rest.
//
// Codes. The document shows no code for 401 and 404, and one of the three for 403. The others, and
// those of single tools, are chosen here: errors.go.
//
// Statuses. Besides those of section 4.1 there are 405 for methods other than POST, 413 for a body
// over MaxBody and 500 for a failure of the service; all carry the Error envelope.
//
// Null. A null argument has the wrong type; it does not count as absent.
//
// Issues. The path of an issue is the argument's name; an item of an array is
// "name.index", counted from 0. An issue with the body as a whole has path "".
//
// Numbers. Numbers are doubles; 1, 1.0 and 1e0 are equal.
//
// Required arguments. site_id and domain_id of domain.point_at_site, at and
// site_id of page.schedule_publish, board_id of the automations tools (over HTTP no
// conversation knows the board) and childAssetId are required.
//
// already_tried. The bound of 51 counts items.
//
// Confirmed calls respond with state "done" and the tool's own fields, without those of
// a proposal.
//
// Data loss. page.publish, page.rollback and page.schedule_publish list in data_loss the losses by the migrations of the revision, and in
// rehearsal their run on a copy; a loss without allow_data_loss or a comment in the migration is data_loss_not_allowed. page.rehearse
// runs the text of migrations in the same way, for a plan before an upload.
//
// page.settings and page.change_settings control the spam filter, proofs of work and the recipients of mails on leads; page.mark_lead
// and the spam argument of page.leads handle spam. All four are assumptions.
//
// page.restore_points and page.restore_data are modelled on page.revisions and page.rollback.
//
// The contracts of page.create, page.list, page.publish, page.unschedule and page.rollback, of
// domain.list and domain.connect, and of automations.redo_draft and automations.discard_draft are
// modelled on similar tools. So is the result of schedule.read.
const (
	MaxBody    = 1 << 20   // bytes of a request body
	MaxDepth   = 64        // nesting of objects and arrays in a body
	MaxTried   = 51        // tiles in already_tried
	maxSecret  = 8192      // characters of a secret's value
	maxInteger = 1<<53 - 1 // the largest that every JSON reader keeps exact

	maxTables     = 100    // tables in an argument
	maxTableName  = 1000   // characters of one
	maxMigrations = 20_000 // files of migrations in an argument
)

// The deprecations of section 9.4. A feature is removed 90 days after its deprecation at the
// earliest, by a release and not by the clock.
var (
	deprecated = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	sunset     = time.Date(2026, time.December, 31, 23, 59, 59, 0, time.UTC)
)
