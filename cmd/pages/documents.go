package main

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/cmd/internal/doctor"
	"github.com/pages-toolchain/pages/cmd/internal/inbox"
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

// This file lists what commands print with --json, and makes a schema of each.

// document is what commands print with --json.
type document struct {
	name     string
	commands []string // that print it, as one types them
	about    string
	shape    func() (*jsonschema.Schema, error)
}

// documents are all that have a schema. A failing command prints "failure".
func documents() []document {
	return []document{
		{"failure", nil, "why a command failed, and what to do; of any command", of[failureDoc]},
		{"done", by("platform workspaces create", "platform members add", "platform members remove", "platform keys revoke"), "that it was done", of[doneDoc]},
		{"backup", by("platform backup", "platform restore"), "what is in a backup", of[backup.Summary]},
		{"build", by("build"), "what was built", of[buildDoc]},
		{"confirmed", by("confirm"), "what a tool of two calls did", confirmed},
		{"db-exec", by("db exec", "db import"), "what statements changed", of[ranDoc]},
		{"db-query", by("db query"), "the rows of a query", of[rowsDoc]},
		{"deploy", by("deploy", "preview"), "what was sent, published or shown", of[publish.Result]},
		{"deploy-plan", by("deploy --plan"), "what a deploy would change", of[publish.PlanReport]},
		{"dev", by("dev"), "one line for each thing that happens", devLines},
		{"doctor", by("doctor"), "what was looked at, and found", of[doctor.Document]},
		{"domains", by("domains list", "domains"), "the domains of the workspace", toolResult(func(t *toolapi.Contract) *toolapi.Tool { return t.DomainList.Tool })},
		{"domain-verified", by("domains verify"), "the domain that is the workspace's", toolResult(func(t *toolapi.Contract) *toolapi.Tool { return t.Verify.Tool })},
		{"events", by("events list", "events replay"), "events of leads, the newest first", of[site.EventList]},
		{"events-tail", by("events tail"), "one line for each event", linesOf(map[string]shape{"event": of[typedEvent]})},
		{"init", by("init --template"), "what was written, and what is next", of[scaffold.Document]},
		{"init-editor", by("init --editor"), "what was written for editors", of[scaffold.EditorsDocument]},
		{"key", by("platform keys create"), "a new key, shown this once", of[newKeyDoc]},
		{"keys", by("platform keys list"), "the keys, without their secrets", of[platform.KeyList]},
		{"lead", by("leads show", "leads replay"), "one lead with its events", of[inbox.Lead]},
		{"lead-files", by("leads files"), "the files of a lead, and where they were saved", of[inbox.LeadFiles]},
		{"leads", by("leads list", "leads export"), "leads: listed newest first, exported oldest first", of[site.LeadList]},
		{"login", by("login", "logout"), "where a key was kept", of[remote.LoginReport]},
		{"logs", by("logs"), "requests and lines of the log, the newest first", of[devserver.LogHistory]},
		{"logs-follow", by("logs --follow"), "one line for each entry of the log", linesOf(map[string]shape{"request": of[typedLoggedRequest], "log": of[typedLine]})},
		{"mails", by("platform mail"), "what is in the outbox, the newest first", of[platform.MailList]},
		{"members", by("platform members list"), "who belongs to which workspace", of[platform.MemberList]},
		{"migrate", by("migrate", "migrate reset"), "what was applied", mayFail(of[migration.RunReport])},
		{"migrate-copies", by("migrate undo --list"), "copies to go back to", of[migration.CopyList]},
		{"migrate-file", by("migrate new", "migrate schema", "migrate squash"), "the file that was written", of[migration.FileReport]},
		{"migrate-plan", by("migrate plan"), "what would change", mayFail(of[migration.PlanReport])},
		{"migrate-rehearse", by("migrate rehearse"), "how it goes from nothing", mayFail(of[migration.RehearsalReport])},
		{"migrate-status", by("migrate status", "migrate repair", "migrate undo"), "the ledger beside the folder", of[migration.StatusReport]},
		{"platform", by("platform"), "the first line on stdout", of[platform.Ready]},
		{"preview-revoke", by("preview revoke"), "the link that leads nowhere now", of[revokedDoc]},
		{"proposal", by("rollback", "domains connect", "domains point", "deploy --propose-only"), "what waits for a person, and the command that confirms it", of[failureDoc]},
		{"revisions", by("revisions"), "what was deployed, the newest first", toolResult(func(t *toolapi.Contract) *toolapi.Tool { return t.Revisions.Tool })},
		{"routes", by("routes"), "the routes, the most specific first", of[routesDoc]},
		{"routes-explain", by("routes explain"), "what a request meets", of[explanationDoc]},
		{"schema-list", by("schema --list"), "the documents that have a schema", of[documentsDoc]},
		{"secret", by("secrets set", "secrets remove"), "the secret that was changed, without its value", toolResult(func(t *toolapi.Contract) *toolapi.Tool { return t.SetSecret.Tool })},
		{"secrets-set", by("secrets import"), "the secrets that were set, without their values", of[publish.SecretList]},
		{"secrets", by("secrets list"), "the names of the secrets", toolResult(func(t *toolapi.Contract) *toolapi.Tool { return t.ListSecrets.Tool })},
		{"state-list", by("state list"), "the snapshots", of[snapshots.List]},
		{"state-remove", by("state remove"), "the snapshot that was removed", of[snapshots.Removed]},
		{"state-reset", by("state reset"), "what was removed", of[snapshots.Emptied]},
		{"state-save", by("state save", "state load"), "the snapshot", of[snapshots.Saved]},
		{"state-seed", by("state seed"), "what was run", of[seed.Report]},
		{"test", by("test"), "how the command ended", of[testDoc]},
		{"tool", by("tools describe"), "a tool with the schemas of its arguments and its result", of[toolDoc]},
		{"tools", by("tools list", "tools"), "the tools of the service", of[toolsDoc]},
		{"types", by("types"), "the file, and whether it was written", of[typesDoc]},
		{"uploads", by("revisions uploads"), "the uploads that are not finalized, the one that was idle for longest first", of[toolapi.UploadList]},
		{"upload-end", by("revisions uploads end"), "the upload that was ended", of[endedDoc]},
		{"validate", by("validate"), "the diagnostics of a manifest; of several: {ok, reports}", validation},
		{"version", by("version"), "the version", of[versionDoc]},
		{"whoami", by("whoami"), "the key, the service and the workspace", of[remote.Identity]},
		{"workspaces", by("platform workspaces list"), "the workspaces of the local service", of[platform.WorkspaceList]},
	}
}

// by are commands as one types them.
func by(commands ...string) []string {
	for i, c := range commands {
		commands[i] = "pages " + c
	}
	return commands
}

// doneDoc is what commands print with --json that have nothing else to say.
type doneDoc struct {
	OK bool `json:"ok"`
}
