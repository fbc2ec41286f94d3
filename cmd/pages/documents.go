package main

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/cmd/internal/devbackground"
	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/docsearch"
	"github.com/pages-toolchain/pages/cmd/internal/doctor"
	"github.com/pages-toolchain/pages/cmd/internal/ending"
	"github.com/pages-toolchain/pages/cmd/internal/inbox"
	"github.com/pages-toolchain/pages/cmd/internal/jsonshape"
	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/scaffold"
	"github.com/pages-toolchain/pages/cmd/internal/seed"
	"github.com/pages-toolchain/pages/cmd/internal/snapshots"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/backup"
)

// document is an output of commands with --json.
type document struct {
	name     string
	commands []string // that print it, as a person types them
	about    string
	shape    func() (*jsonschema.Schema, error)
}

// documents lists all documents with a schema. A failing command prints "failure".
func documents() []document {
	tools := toolapi.NewContract()
	all := []document{
		{"failure", nil, "the error of any command, with its fix", jsonshape.Of[ending.FailureReport]},
		{
			"done",
			by("platform workspaces create", "platform members add", "platform members remove", "platform keys revoke"),
			"a change that was made",
			jsonshape.Of[doneDoc],
		},
		{"backup", by("platform backup", "platform restore"), "the contents of a backup", jsonshape.Of[backup.Summary]},
		{"build", by("build"), "the built site", jsonshape.Of[buildDoc]},
		{"confirmed", by("confirm"), "the result of a confirmed proposal", jsonshape.Confirmed},
		{"db-exec", by("db exec", "db import"), "what statements changed", jsonshape.Of[ranDoc]},
		{"db-query", by("db query", "logs sql"), "the rows of a query", jsonshape.Of[rowsDoc]},
		{"deploy", by("deploy", "preview"), "the result of a deploy or a preview", jsonshape.Of[publish.Result]},
		{"deploy-plan", by("deploy --plan"), "the changes of a deploy", jsonshape.Of[publish.PlanReport]},
		{"dev", by("dev"), "one line for each event of the dev server", devLines},
		{"dev-logs", by("dev logs"), "the output of the server in the background", jsonshape.Of[devLogDoc]},
		{"dev-status", by("dev status", "dev --background"), "the dev server of the site", jsonshape.Of[devbackground.Status]},
		{"dev-stop", by("dev stop"), "the server that was stopped", jsonshape.Of[stoppedDoc]},
		{"docs", by("docs"), "the pages of help that answer a question", jsonshape.Of[docsearch.Answer]},
		{"doctor", by("doctor"), "the findings", jsonshape.Of[doctor.Document]},
		{"domains", by("domains list", "domains"), "the domains of the workspace", jsonshape.ToolResult(tools.DomainList.Tool)},
		{"domain-verified", by("domains verify"), "the verified domain", jsonshape.ToolResult(tools.Verify.Tool)},
		{"events", by("events list", "events replay"), "events of leads, the newest first", jsonshape.Of[site.EventList]},
		{
			"events-tail", by("events tail"), "one line for each event",
			jsonshape.Lines(map[string]jsonshape.Shape{"event": jsonshape.Of[devsession.SiteEvent]}),
		},
		{"init", by("init --template"), "the files that were written, and the next steps", jsonshape.Of[scaffold.Document]},
		{
			"init-editor", by("init --editor", "init --agents"), "the files that were written for editors and agents",
			jsonshape.Of[scaffold.EditorsDocument],
		},
		{"key", by("platform keys create"), "a new key, shown only once", jsonshape.Of[newKeyDoc]},
		{"keys", by("platform keys list"), "the keys, without their secrets", jsonshape.Of[platform.KeyList]},
		{"lead", by("leads show", "leads replay", "leads spam", "leads ham"), "one lead with its events", jsonshape.Of[inbox.Lead]},
		{"lead-files", by("leads files"), "the files of a lead, and where they were saved", jsonshape.Of[inbox.LeadFiles]},
		{"leads", by("leads list", "leads export"), "leads: listed newest first, exported oldest first", jsonshape.Of[site.LeadList]},
		{"login", by("login", "logout"), "where a key was kept", jsonshape.Of[remote.LoginReport]},
		{"logs", by("logs"), "requests and lines of the log, the newest first", jsonshape.Of[devserver.LogHistory]},
		{
			"logs-follow", by("logs --follow"), "one line for each entry of the log",
			jsonshape.Lines(map[string]jsonshape.Shape{
				"request": jsonshape.Of[typedLoggedRequest], "log": jsonshape.Of[devsession.LogEvent],
			}),
		},
		{"mails", by("platform mail"), "the mails in the outbox, newest first", jsonshape.Of[platform.MailList]},
		{"members", by("platform members list"), "the members of the workspaces", jsonshape.Of[platform.MemberList]},
		{"migrate", by("migrate", "migrate reset"), "the applied migrations", jsonshape.MayFail(jsonshape.Of[migration.RunReport])},
		{"migrate-copies", by("migrate undo --list"), "the copies that undo can restore", jsonshape.Of[migration.CopyList]},
		{
			"migrate-file", by("migrate new", "migrate schema", "migrate squash"), "the file that was written",
			jsonshape.Of[migration.FileReport],
		},
		{"migrate-diff", by("migrate diff"), "the migration to schema.sql", jsonshape.MayFail(jsonshape.Of[migration.DiffReport])},
		{"migrate-plan", by("migrate plan"), "what would change", jsonshape.MayFail(jsonshape.Of[migration.PlanReport])},
		{
			"migrate-rehearse", by("migrate rehearse"), "the run on an empty database",
			jsonshape.MayFail(jsonshape.Of[migration.RehearsalReport]),
		},
		{
			"migrate-schema-check", by("migrate schema --check"), "which side is older, and the differences",
			jsonshape.MayFail(jsonshape.Of[migration.SchemaReport]),
		},
		{
			"migrate-status", by("migrate status", "migrate repair", "migrate undo"), "the ledger and the folder",
			jsonshape.Of[migration.StatusReport],
		},
	}
	return append(all, documentsOfServices(tools)...)
}

// documentsOfServices are the documents of commands that run or call a service, and of those later in the alphabet.
func documentsOfServices(tools *toolapi.Contract) []document {
	return []document{
		{"platform", by("platform"), "the first line on stdout", jsonshape.Of[platform.Ready]},
		{"deploy-preview", by("deploy --preview --name"), "the preview of the deploy", jsonshape.Of[publish.PreviewResult]},
		{"preview-list", by("preview list"), "the previews of the site", jsonshape.Of[toolapi.PreviewList]},
		{"preview-remove", by("preview remove"), "the preview that was removed", jsonshape.Of[removedPreviewDoc]},
		{"preview-revoke", by("preview revoke"), "the link that was ended", jsonshape.Of[revokedDoc]},
		{
			"proposal",
			by("rollback", "restore", "domains connect", "domains point", "deploy --propose-only"),
			"the pending proposal, and the command that confirms it",
			jsonshape.Of[ending.FailureReport],
		},
		{"restore-points", by("restore --list"), "the restore points, the newest first", jsonshape.ToolResult(tools.RestorePoints.Tool)},
		{"revisions", by("revisions"), "the revisions, newest first", jsonshape.ToolResult(tools.Revisions.Tool)},
		{"routes", by("routes"), "the routes, the most specific first", jsonshape.Of[routesDoc]},
		{"routes-explain", by("routes explain"), "the way of a request", jsonshape.Of[explanationDoc]},
		{"schema-list", by("schema --list"), "the documents that have a schema", jsonshape.Of[documentsDoc]},
		{
			"secret", by("secrets set", "secrets remove"), "the secret that was changed, without its value",
			jsonshape.ToolResult(tools.SetSecret.Tool),
		},
		{"secrets-set", by("secrets import"), "the secrets that were set, without their values", jsonshape.Of[publish.SecretList]},
		{"secrets", by("secrets list"), "the names of the secrets", jsonshape.ToolResult(tools.ListSecrets.Tool)},
		{"state-list", by("state list"), "the snapshots", jsonshape.Of[snapshots.List]},
		{"state-remove", by("state remove"), "the snapshot that was removed", jsonshape.Of[snapshots.Removed]},
		{"state-reset", by("state reset"), "the removed state", jsonshape.Of[snapshots.Emptied]},
		{"state-save", by("state save", "state load"), "the snapshot", jsonshape.Of[snapshots.Saved]},
		{"state-seed", by("state seed"), "the statements that ran", jsonshape.Of[seed.Report]},
		{"test", by("test"), "how the command ended", jsonshape.Of[devsession.TestDocument]},
		{"tool", by("tools describe"), "a tool with the schemas of its arguments and its result", jsonshape.Of[toolDoc]},
		{"tools", by("tools list", "tools"), "the tools of the service", jsonshape.Of[toolsDoc]},
		{"types", by("types"), "the file, and whether it was written", jsonshape.Of[typesDoc]},
		{
			"uploads", by("revisions uploads"), "the unfinished uploads, the longest idle first",
			jsonshape.Of[toolapi.UploadList],
		},
		{"upload-end", by("revisions uploads end"), "the upload that was ended", jsonshape.Of[endedDoc]},
		{"unschedule", by("unschedule"), "the scheduled publish that was canceled", jsonshape.ToolResult(tools.Unschedule.Tool)},
		{"validate", by("validate"), "the diagnostics of a manifest; of several: {ok, reports}", jsonshape.Validation},
		{"version", by("version"), "the version", jsonshape.Of[versionDoc]},
		{"whoami", by("whoami"), "the key, the service and the workspace", jsonshape.Of[remote.Identity]},
		{"workspaces", by("platform workspaces list"), "the workspaces of the local service", jsonshape.Of[platform.WorkspaceList]},
	}
}

// by returns commands as a person types them.
func by(commands ...string) []string {
	for i, c := range commands {
		commands[i] = "pages " + c
	}
	return commands
}

// doneDoc is the output with --json of commands without a result.
type doneDoc struct {
	OK bool `json:"ok"`
}
