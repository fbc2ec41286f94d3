package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Topic is a page of help that is about no single command.
type Topic struct{ Name, Short, Text string }

// addTopics makes each topic a page of `pages help`. One with the name of a command
// is part of that command's.
func addTopics(root *cobra.Command) {
	for _, t := range topics() {
		if cmd := FindCommand(root, []string{t.Name}); cmd != nil {
			cmd.Long += "\n\n" + t.Text
			continue
		}
		root.AddCommand(&cobra.Command{Use: t.Name, Short: t.Short, Long: t.Text})
	}
}

func topics() []Topic {
	return append(RoomTopics(), []Topic{
		{"exit-codes", "What the exit codes mean", exitCodesTopic()},
		{"environment", "The environment variables that count", EnvironmentTopic},
		{"state", "What is kept in .pages, and how it is moved", StateTopic},
		{"assumptions", "What the platform's document leaves open, and is assumed here", assumptionsTopic()},
	}...)
}

// ExitMeanings are the exit codes: the contract with scripts and CI.
var ExitMeanings = []struct {
	Code    int
	Meaning string
}{
	{0, "done; pages dev and pages platform stopped by Ctrl-C"},
	{failure.ExitRefused, "the input was refused, or something failed"},
	{failure.ExitUsage, "wrong usage: a flag, an argument or a command that there is not"},
	{failure.ExitPerson, "a person is needed: a question without a terminal to ask on, or a confirmation\n       that is outstanding"},
	{failure.ExitAccess, "the key was refused (401), or may not do this (403)"},
	{failure.ExitTool, "a tool of the service refused: ok is false"},
	{failure.ExitRate, "still rate limited after waiting"},
	{failure.ExitNetwork, "no answer from the network, or a 5xx"},
	{failure.ExitResource, "a port, the disk or a lock of this machine"},
	{failure.ExitChanges, "there are changes; only with --exit-code"},
	{failure.ExitResume, "gave up halfway; running it again goes on"},
	{failure.ExitInt, "stopped by Ctrl-C (SIGINT)"},
	{failure.ExitTerm, "stopped by SIGTERM"},
}

func exitCodesTopic() string {
	var b strings.Builder
	b.WriteString("Codes only ever become more precise on what failed already: what is not 0 stays not 0.\n\n")
	for _, e := range ExitMeanings {
		fmt.Fprintf(&b, "  %3d  %s\n", e.Code, e.Meaning)
	}
	b.WriteString("\npages test ends with the code of its command, and with 128 + n when signal n ended it.\nWith --json a failure is " +
		"{\"ok\": false, \"code\", \"message\", \"fix\"} on stdout.")
	return b.String()
}

// EnvironmentTopic tells which variables count.
const EnvironmentTopic = `Every flag can be set as PAGES_<FLAG>, in capitals and with _ for -: PAGES_STATE_DIR is
--state-dir. A flag on the command line counts before its variable; an empty variable
counts as not set. Of a flag that can be repeated it gives one value.

The service:
  PAGES_API_KEY               the API key; never a flag, which everyone on the machine reads
  PAGES_API_KEY_FILE          a file that holds the key
  PAGES_BASE_URL              the service's address
  PAGES_WORKSPACE             the workspace that calls run in

While developing:
  PAGES_EVENT_WEBHOOK_SECRET  signs what pages dev --event-webhook sends
  names in bindings.secrets   the Worker's secrets; they count before .dev.vars and .env

Given to the command of pages test:
  PAGES_URL                   where the site is
  PAGES_TEST_TOKEN            opens what changes the site

Of the system:
  NO_COLOR, TERM=dumb         no colour, unless --color always
  XDG_CACHE_HOME, HOME        where the engine's machine code is kept: pages/engine in the
                              user's cache folder; on Windows LOCALAPPDATA
  CI                          no updating lines of progress, and nobody is asked
  HTTPS_PROXY, HTTP_PROXY,    the way to the service, but for hosts in the last one
    NO_PROXY
  GITHUB_WORKSPACE            annotations name files from there
  GITHUB_STEP_SUMMARY         where pages validate --format github and pages deploy add
                              their summaries`

// StateTopic tells what is kept in .pages.
const StateTopic = `All that a site keeps on this machine is in .pages beside its manifest, or where
--state-dir says. It is in no version control, and no other machine has it.

  .pages/state/site.db        the site's own database (env.DB)
  .pages/state/project.db     the project's; --project-state shares it between sites
  .pages/state/platform.db    leads, events, sessions, the log of requests
  .pages/state/kv.db          key-value
  .pages/state/storage/       objects: index.db, and a file for each content
  .pages/state/uploads/       files that visitors sent with forms, the same way
  .pages/state/cache.db       what Workers cache
  .pages/state/undo/          the database before each of the last ten migrations
  .pages/state/snapshots/     what pages state save keeps
  .pages/state/dev.json       who runs on it
  .pages/build, cloudflare/   what pages build wrote
  .pages/link.json            the site that pages deploy publishes to
  .pages/members.json         people to sign in as, beside member, owner and outsider

Databases are SQLite in WAL mode with synchronous=FULL: what was acknowledged survives a
power cut. Caches and the log of requests may lose their last moment.

  pages state save before     keep all of it under a name; load, list and remove
  pages state reset           begin again
  pages state seed            run seed.sql
  pages db shell              look into it; query, exec, dump and import
  pages doctor                look for damage`

func assumptionsTopic() string {
	return fmt.Sprintf(`What the platform's document leaves open, and is assumed here. The platform may do it
otherwise one day; ARCHITECTURE.md says where each is in the code.

  names in env       %s, %s, %s, %s; %s and %s unless named
  reserved paths     /%s/* and /%s/*: a route under them is an error
  compatibility      the platform's own date is %s; a manifest can only move it forward
  limits             %s: fetches and
                     redirects count, calls of DB, KV and other bindings do not
  forms              a declared form needs both name and event
  routes             a GET or HEAD gets the file at its path before the Worker is asked,
                     behind the same gate
  members            the Worker hears who is signed in on members routes only
  static files       /about is about.html, /dir leads to /dir/, the nearest 404.html answers
                     where nothing is; an upload takes 25 MiB a file, 20,000 files and
                     500 MiB in all
  .assetsignore      what it lists is not public, and is not sent
  _headers           and _redirects count as Cloudflare documents them, behind the gate;
                     pages dev --edge-rules off leaves them aside
  paths              empty and dot segments, encoded slashes, backslashes and %% are 400
  migrations         in bytewise order of their names; edited, missing and late ones are refused
  SQL                the functions and pragmas of D1's documentation`,
		manifest.DatabaseName, manifest.ProjectDatabaseName, manifest.ImagesName, manifest.AssetsName,
		manifest.DefaultStorageName, manifest.DefaultKVName,
		sitepath.ReservedPages, sitepath.ReservedPreview, manifest.PinDate,
		limitsAndCeilings())
}

func limitsAndCeilings() string {
	var list []string
	for _, l := range limits.All() {
		list = append(list, fmt.Sprintf("%s %d (at most %d)", l.Key, l.Default, l.Ceiling))
	}
	return strings.Join(list, ", ")
}
