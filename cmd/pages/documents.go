package main

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
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
	commands []string // that print it, as one types them
	about    string
	shape    func() (*jsonschema.Schema, error)
}

// documents are all that have a schema. A failing command prints "failure".
func documents() []document {
	tools := toolapi.NewContract()
	all := []document{
		{"failure", nil, "why a command failed, and what to do; of any command", jsonshape.Of[ending.FailureReport]},
		{
			"done",
			by("platform workspaces create", "platform members add", "platform members remove", "platform keys revoke"),
			"that it was done",
			jsonshape.Of[doneDoc],
		},
		{"backup", by("platform backup", "platform restore"), "what is in a backup", jsonshape.Of[backup.Summary]},
		{"build", by("build"), "what was built", jsonshape.Of[buildDoc]},
		{"confirmed", by("confirm"), "what a tool of two calls did", jsonshape.Confirmed},
		{"db-exec", by("db exec", "db import"), "what statements changed", jsonshape.Of[ranDoc]},
		{"db-query", by("db query"), "the rows of a query", jsonshape.Of[rowsDoc]},
		{"deploy", by("deploy", "preview"), "what was sent, published or shown", jsonshape.Of[publish.Result]},
		{"deploy-plan", by("deploy --plan"), "what a deploy would change", jsonshape.Of[publish.PlanReport]},
		{"dev", by("dev"), "one line for each thing that happens", devLines},
		{"doctor", by("doctor"), "what was looked at, and found", jsonshape.Of[doctor.Document]},
		{"domains", by("domains list", "domains"), "the domains of the workspace", jsonshape.ToolResult(tools.DomainList.Tool)},
		{"domain-verified", by("domains verify"), "the domain that is the workspace's", jsonshape.ToolResult(tools.Verify.Tool)},
		{"events", by("events list", "events replay"), "events of leads, the newest first", jsonshape.Of[site.EventList]},
		{
			"events-tail", by("events tail"), "one line for each event",
			jsonshape.Lines(map[string]jsonshape.Shape{"event": jsonshape.Of[devsession.SiteEvent]}),
		},
		{"init", by("init --template"), "what was written, and what is next", jsonshape.Of[scaffold.Document]},
		{"init-editor", by("init --editor"), "what was written for editors", jsonshape.Of[scaffold.EditorsDocument]},
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
		{"mails", by("platform mail"), "what is in the outbox, the newest first", jsonshape.Of[platform.MailList]},
		{"members", by("platform members list"), "who belongs to which workspace", jsonshape.Of[platform.MemberList]},
		{"migrate", by("migrate", "migrate reset"), "what was applied", jsonshape.MayFail(jsonshape.Of[migration.RunReport])},
		{"migrate-copies", by("migrate undo --list"), "copies to go back to", jsonshape.Of[migration.CopyList]},
		{
			"migrate-file", by("migrate new", "migrate schema", "migrate squash"), "the file that was written",
			jsonshape.Of[migration.FileReport],
		},
		{"migrate-diff", by("migrate diff"), "what leads to the wanted schema", jsonshape.MayFail(jsonshape.Of[migration.DiffReport])},
		{"migrate-plan", by("migrate plan"), "what would change", jsonshape.MayFail(jsonshape.Of[migration.PlanReport])},
		{
			"migrate-rehearse", by("migrate rehearse"), "how it goes from nothing",
			jsonshape.MayFail(jsonshape.Of[migration.RehearsalReport]),
		},
		{
			"migrate-schema-check", by("migrate schema --check"), "which side is behind, and the differences",
			jsonshape.MayFail(jsonshape.Of[migration.SchemaReport]),
		},
		{
			"migrate-status", by("migrate status", "migrate repair", "migrate undo"), "the ledger beside the folder",
			jsonshape.Of[migration.StatusReport],
		},
	}
	return append(all, documentsOfServices(tools)...)
}

// documentsOfServices are the documents of commands that run or call a service, and of those later in the alphabet.
func documentsOfServices(tools *toolapi.Contract) []document {
	return []document{
		{"platform", by("platform"), "the first line on stdout", jsonshape.Of[platform.Ready]},
		{"deploy-preview", by("deploy --preview --name"), "the preview that shows what was sent", jsonshape.Of[publish.PreviewResult]},
		{"preview-list", by("preview list"), "the previews of the site", jsonshape.Of[toolapi.PreviewList]},
		{"preview-remove", by("preview remove"), "the preview that was removed", jsonshape.Of[removedPreviewDoc]},
		{"preview-revoke", by("preview revoke"), "the link that leads nowhere now", jsonshape.Of[revokedDoc]},
		{
			"proposal",
			by("rollback", "restore", "domains connect", "domains point", "deploy --propose-only"),
			"what waits for a person, and the command that confirms it",
			jsonshape.Of[ending.FailureReport],
		},
		{"restore-points", by("restore --list"), "the restore points, the newest first", jsonshape.ToolResult(tools.RestorePoints.Tool)},
		{"revisions", by("revisions"), "what was deployed, the newest first", jsonshape.ToolResult(tools.Revisions.Tool)},
		{"routes", by("routes"), "the routes, the most specific first", jsonshape.Of[routesDoc]},
		{"routes-explain", by("routes explain"), "what a request meets", jsonshape.Of[explanationDoc]},
		{"schema-list", by("schema --list"), "the documents that have a schema", jsonshape.Of[documentsDoc]},
		{
			"secret", by("secrets set", "secrets remove"), "the secret that was changed, without its value",
			jsonshape.ToolResult(tools.SetSecret.Tool),
		},
		{"secrets-set", by("secrets import"), "the secrets that were set, without their values", jsonshape.Of[publish.SecretList]},
		{"secrets", by("secrets list"), "the names of the secrets", jsonshape.ToolResult(tools.ListSecrets.Tool)},
		{"state-list", by("state list"), "the snapshots", jsonshape.Of[snapshots.List]},
		{"state-remove", by("state remove"), "the snapshot that was removed", jsonshape.Of[snapshots.Removed]},
		{"state-reset", by("state reset"), "what was removed", jsonshape.Of[snapshots.Emptied]},
		{"state-save", by("state save", "state load"), "the snapshot", jsonshape.Of[snapshots.Saved]},
		{"state-seed", by("state seed"), "what was run", jsonshape.Of[seed.Report]},
		{"test", by("test"), "how the command ended", jsonshape.Of[devsession.TestDocument]},
		{"tool", by("tools describe"), "a tool with the schemas of its arguments and its result", jsonshape.Of[toolDoc]},
		{"tools", by("tools list", "tools"), "the tools of the service", jsonshape.Of[toolsDoc]},
		{"types", by("types"), "the file, and whether it was written", jsonshape.Of[typesDoc]},
		{
			"uploads", by("revisions uploads"), "the uploads that are not finalized, the one that was idle for longest first",
			jsonshape.Of[toolapi.UploadList],
		},
		{"upload-end", by("revisions uploads end"), "the upload that was ended", jsonshape.Of[endedDoc]},
		{"unschedule", by("unschedule"), "the publish that was called off", jsonshape.ToolResult(tools.Unschedule.Tool)},
		{"validate", by("validate"), "the diagnostics of a manifest; of several: {ok, reports}", jsonshape.Validation},
		{"version", by("version"), "the version", jsonshape.Of[versionDoc]},
		{"whoami", by("whoami"), "the key, the service and the workspace", jsonshape.Of[remote.Identity]},
		{"workspaces", by("platform workspaces list"), "the workspaces of the local service", jsonshape.Of[platform.WorkspaceList]},
	}
}

// by are commands as one types them.
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
