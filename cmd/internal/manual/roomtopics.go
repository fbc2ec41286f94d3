package manual

import (
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/limits"
)

// This file holds a page of help for each room: what happens in it, by which rules, and
// the commands that show it.

// RoomTopics lists the topics about rooms.
func RoomTopics() []Topic {
	return []Topic{
		{"manifest", "What pages.deploy.json says", manifestTopic()},
		{"bundling", "How a Worker becomes one file", bundlingTopic},
		{"runtime", "What a Worker runs in, and its limits", runtimeTopic()},
		{"bindings", "What a Worker finds in env", bindingsTopic()},
		{"migrations", "How a database gets its tables", migrationsTopic},
		{"members", "Who sees members pages", membersTopic},
		{"forms", "What becomes of a form", formsTopic},
		{"publishing", "What happens between deploy and live", publishingTopic},
		{"service", "The platform's service on this machine", serviceTopic},
	}
}

func manifestTopic() string {
	return fmt.Sprintf(`%s is all that the platform knows of a site. Every key is optional.

  entry          the Worker's source: JavaScript or TypeScript
  assets         the folder of public files
  routes         [{"pattern": "/club/*", "access": "members"}]: which paths the Worker
                 answers, and who may ask. The most specific pattern wins; /x/* is /x too
  bindings       what the Worker finds in env: pages help bindings
  limits         %s unless given
  runtime        {"compatibilityDate", "compatibilityFlags"}: pages help runtime
  forms          [{"name": "contact", "event": "custom.contact"}]: pages help forms

An unknown key, a value of another kind or over a ceiling is an error, at its line and
column and with what to do. A warning is of what works, and is hardly meant.

  pages validate              every error at once; --fail-on warning in CI
  pages validate --watch      again after each save
  pages routes explain /club  who answers a path, and by which rule
  pages schema                its JSON Schema
  pages init --editor vscode  completion and problems while you type`, manifest.FileName, defaultLimits())
}

func defaultLimits() string {
	var list []string
	for _, l := range limits.All() {
		list = append(list, fmt.Sprintf("%q: %d", l.Key, l.Default))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

const bundlingTopic = `esbuild makes one ES module of the Worker's entry and all it imports, with a source map,
so that errors name your own file, line and column. Public files are sent as they are.

  npm packages   from node_modules, which your package manager fills; "browser" and
                 "worker" builds are preferred
  imports        lead to the site's checkout, or to an installed package; --allow-import
                 FOLDER names another, and files of keys and passwords are never taken in
  .wasm          import module from "./file.wasm" gives a WebAssembly.Module
  node:*         with "compatibilityFlags": ["nodejs_compat"]
  .assetsignore  lists public files that are not to be sent, as .gitignore does

The digest of a bundle is that of its contents: the same site gives the same digest on
every machine.

  pages build                       what a deploy would send, in .pages/build
  pages build --minify              a smaller Worker
  pages build --target cloudflare   a complete Workers project, in .pages/cloudflare`

func runtimeTopic() string {
	return fmt.Sprintf(`Workers run in QuickJS, compiled to WebAssembly, in this process: no Node, no browser.
They have the web's classes (fetch, streams, crypto.subtle, URL, WebSocket, Intl …) and
the Workers' own (HTMLRewriter, caches, waitUntil). Packages that ask for Node.js want
"nodejs_compat".

%s  fetch         reaches the internet, not this machine or its network, except what
                pages dev --allow-fetch HOST:PORT names
  flags         nodejs_compat, global_fetch_strictly_public

  pages dev --limits warn          tell of limits, and end nothing
  pages dev --cpu-scale 3          pure JavaScript is slower here than on the platform
  pages dev --isolation request    a pristine isolate for each request
  pages logs --status 5xx          what failed, and where
  pages test -- node --test        tests, against the site on a copy of its state`, runtimeLimitsHelp())
}

func runtimeLimitsHelp() string {
	var b strings.Builder
	for _, l := range limits.All() {
		fmt.Fprintf(&b, "  %-13s %s: %d unless given, at most %d", l.Key, l.Help[0], l.Default, l.Ceiling)
		if l.Help[1] != "" {
			fmt.Fprintf(&b, ".\n%16s%s", "", l.Help[1])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func bindingsTopic() string {
	return fmt.Sprintf(`"bindings" in %s says what a Worker finds in env, under these names:

  %-12s "database": {"migrations": "migrations"}      SQLite, with D1's API
  %-12s "projectDatabase": "read" or "readwrite"      shared by a project's sites
  %-12s "kv": {"name": "%s"}                          key-value
  %-12s "storage": {"name": "%s"}                 objects, with R2's API
  %-12s "images": true                                resize and convert pictures
  %-12s the public files, of every site that has some
  and by name  "secrets": ["TOKEN"]                          values from .dev.vars, or the
               environment; shown nowhere: what is logged says [secret TOKEN]

What is written is on disk before its promise settles. Here they live in .pages/state;
pages help state says where.

  pages types                     their TypeScript types, in pages-env.d.ts
  pages db query 'SELECT …'       look into the database; exec, shell, dump and import
  pages state save before         keep all of it under a name
  pages secrets set TOKEN         a published site's secret`, manifest.FileName, manifest.DatabaseName,
		manifest.ProjectDatabaseName, manifest.DefaultKVName, manifest.DefaultKVName,
		manifest.DefaultStorageName, manifest.DefaultStorageName, manifest.ImagesName, manifest.AssetsName)
}

const migrationsTopic = `The .sql files of the folder in bindings.database.migrations make the database, in
bytewise order of their names. Each runs once, in one transaction with its row in a
ledger: all of a file, or nothing.

A file that was edited after it ran, one that is gone, and a new one that sorts before
one that ran are refused. pages dev runs what is new after each save; a deploy does
before the new revision goes live, and where one fails the old revision stays.

  pages migrate new add_boats    an empty file, numbered
  pages migrate plan             run it on a copy, and say what it would change
  pages migrate                  run it; the database before is kept
  pages migrate undo             and put back
  pages migrate status           what ran, what will, what does not fit
  pages migrate rehearse         all of them on an empty database
  pages migrate reset            begin again; pages state seed runs seed.sql
  pages migrate repair           when the ledger is what is wrong`

const membersTopic = `A path under a route with "access": "members" is for members of the site's workspace:
its files as well as the Worker's answers. The gate is asked before anything else, and
nothing of the page leaves before it has said yes.

  signed out         a browser is sent to sign in; everyone else gets 401
  no member          403
  a member           the page, and the Worker is told who, on these routes only:
                     ctx.member, X-Pages-Member-Id, -Email and -Name. What visitors
                     send under these names never gets through

While you develop, anybody can be anybody: member, owner and outsider, and whoever is in
.pages/members.json.

Beyond this machine there is the site, and nothing else: under a name of --allow-host,
over a network, or through a tunnel or a proxy, which add headers as X-Forwarded-For.
There is no dashboard, no source of what fails and no Server-Timing. Who signs in there
types a code that the terminal shows: for that browser alone, once, for ten minutes and
five tries. It can be anybody then until pages dev ends, or you press b. A proxy of your
own changes nothing while all that it adds names this machine. A tunnel that asks for
localhost and adds nothing looks like your own browser: allow its name instead.

  pages dev --as member                          everyone is signed in from the start
  pages routes explain GET /club --as outsider   what would happen, and by which rule
  pages deploy --plan                            says which paths become public;
                                                 --allow-public lets that happen`

const formsTopic = `A form with the action /__pages/forms becomes a lead, without code. Its field "form", or
the path /__pages/forms/NAME, names it; "_next" is where the browser goes then.

  <form method="post" action="/__pages/forms/contact">
    <input name="email" type="email"> <input type="hidden" name="_next" value="/thanks">
  </form>

Each lead raises pages.lead.captured, and the event that "forms" in the manifest gives
the form. "submissions": "enquiries" also writes a row into that table of the site's
database, in the columns that the answers are called. Lead, events and what is to be
delivered are one transaction, on disk before the visitor has an answer. With
"Accept: application/json" the answer has the lead, as JSON.

  pages leads list                  what came in; show, export csv, replay
  pages events list                 what it raised; tail, replay
  pages dev --event-webhook URL     delivers them, as Standard Webhooks has it`

const publishingTopic = `Nothing that a deploy sends is seen before a person has confirmed it.

  build     as in pages dev; what validate refuses is not sent
  plan      what would change, for whom: files, routes, migrations, secrets, limits
  send      the files that the service lacks, each known by its SHA-256. What is cut off
            goes on where it stopped when it is run again
  propose   at a terminal you are asked; elsewhere the deploy ends with exit code 4 and
            the command that confirms it, for fifteen minutes
  confirm   a member does. Migrations run, the Worker starts, and then the new revision
            is live at once, or the old one stays

  pages login URL                keeps a key; in CI it is PAGES_API_KEY
  pages deploy --plan            stop before anything is sent
  pages deploy --preview         an address of its own, for a day
  pages deploy --propose-only    never ask
  pages confirm ID               what the proposal printed
  pages rollback                 the revision before; pages revisions lists them`

const serviceTopic = `pages platform is the platform's service: tools over REST and MCP, a console in the
browser, and the sites that are published to it. It needs no account and no network.

  pages platform --seed demo --json   prints its address, and keys and ids to try it with
  pages platform keys                 makes, lists and revokes keys; also members and
                                      workspaces
  pages platform backup               the data folder as one file, while it runs; restore
  pages platform openapi              its description

A tool is called with a key in a workspace. Those that people would regret take two
calls: the first proposes, the second, by a member, confirms. A call that is made again
with its idempotency key has its effect once.

  pages tools                         lists them; describe says what they take
  pages call content.status           calls one
  pages mcp                           lets a desktop agent call them`
