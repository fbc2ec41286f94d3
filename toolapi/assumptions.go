package toolapi

import "time"

// This file holds the choices of the contract where the platform document leaves a point open. Each may change without a change of how
// the rest works.
//
// Codes. The document shows no code for 401 and 404, and one of the three for 403;
// those are chosen here, as are a tool's own. See errors.go.
//
// Statuses. Beside those of section 4.1 there are 405 for another method than POST,
// 413 for a body over MaxBody and 500 when the service itself failed; all
// carry the Error envelope.
//
// Null. An argument that is null is an argument of the wrong type, not an absent one.
//
// Issues. The path of an issue is the argument's name; an item of an array is
// "name.index", counted from 0. An issue with the body as a whole has path "".
//
// Numbers. They are doubles; 1, 1.0 and 1e0 are the same number.
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
// rehearsal how they ran on a copy; a loss that neither allow_data_loss nor a comment in the migration names is data_loss_not_allowed.
// page.rehearse runs the text of migrations in the same way, for a plan before anything is sent.
//
// page.settings and page.change_settings hold the switch of the spam filter and who gets a mail on a lead; page.mark_lead
// and the spam of page.leads are about what is kept apart. All four are assumptions.
//
// page.restore_points and page.restore_data are in the spirit of page.revisions and page.rollback.
//
// Contracts of page.create, page.list, page.publish, page.unschedule and page.rollback, of
// domain.list and domain.connect, and of automations.redo_draft and automations.discard_draft are in
// the spirit of their neighbours. The result of schedule.read is too.
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

// The deprecations of section 9.4. Nothing is removed sooner than 90 days after it
// was deprecated, and by a release, not by the clock.
var (
	deprecated = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	sunset     = time.Date(2026, time.December, 31, 23, 59, 59, 0, time.UTC)
)
