package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/pages-toolchain/pages/"

// mayImport lists each room of ARCHITECTURE.md, and the rooms it may import.
var mayImport = map[string][]string{
	"manifest": {
		"manifest/diagnostic", "manifest/jsontree", "manifest/limits", "manifest/migrationfiles", "manifest/publicfiles",
		"manifest/sitepath", "manifest/sourcetext",
	},
	"manifest/editor":      {"manifest"},
	"manifest/limits":      nil,
	"manifest/framework":   nil,
	"manifest/packager":    nil,
	"manifest/secretscan":  nil,
	"manifest/sitefile":    nil,
	"manifest/starter":     {"manifest/edgerules", "manifest/framework", "manifest/packager"},
	"manifest/sourcetext":  nil,
	"manifest/jsontree":    {"manifest/sourcetext"},
	"manifest/diagnostic":  {"manifest/jsontree", "manifest/limits", "manifest/sourcetext"},
	"manifest/sitepath":    nil,
	"manifest/publicfiles": {"manifest/diagnostic", "manifest/limits", "manifest/sitepath", "manifest/sourcetext"},
	"manifest/migrationfiles": {
		"manifest/diagnostic", "manifest/limits", "manifest/publicfiles", "manifest/sitepath", "manifest/sourcetext",
	},
	"manifest/edgerules": {
		"manifest/diagnostic", "manifest/fileindex", "manifest/secretscan", "manifest/sitepath", "manifest/sourcetext",
	},
	"manifest/fileindex": nil,
	"manifest/htmlforms": {"manifest/sitepath", "manifest/sourcetext"},
	"manifest/htmllinks": {"manifest/sitepath", "manifest/sourcetext"},
	"manifest/formcheck": {"manifest", "manifest/diagnostic", "manifest/htmlforms", "manifest/sitepath", "manifest/sourcetext"},
	"manifest/validate": {
		"manifest", "manifest/diagnostic", "manifest/edgerules", "manifest/fileindex", "manifest/formcheck", "manifest/htmlforms",
		"manifest/htmllinks", "manifest/jsontree", "manifest/limits", "manifest/migrationfiles", "manifest/publicfiles",
		"manifest/sitepath", "manifest/sourcetext",
	},
	"manifest/workertypes": {"manifest"},
	"manifest/wrangler":    {"manifest", "manifest/diagnostic", "manifest/limits", "manifest/migrationfiles"},
	"bundler": {
		"bundler/checkout", "bundler/hashfile", "bundler/names", "manifest", "manifest/diagnostic", "manifest/limits",
		"manifest/migrationfiles", "manifest/packager", "manifest/publicfiles", "manifest/secretscan", "manifest/sitefile",
		"runtime/wasmbinary",
	},
	"bundler/checkout": {"manifest/packager", "manifest/publicfiles"},
	"bundler/cloudflare": {
		"bundler", "manifest", "manifest/edgerules", "manifest/fileindex", "manifest/htmlforms", "manifest/sitefile", "manifest/sitepath",
	},
	"bundler/hashfile":       nil,
	"bundler/names":          nil,
	"runtime/engine":         {"runtime/engine/quickjs", "runtime/engine/quickjspatch"},
	"runtime/engine/quickjs": nil,
	"runtime/deflate":        nil,
	"runtime/trace":          {"manifest/sourcetext"},
	"runtime/expression":     nil,

	"runtime/web": {
		"manifest/limits", "runtime/engine", "runtime/intl", "runtime/web/cache", "runtime/web/compression", "runtime/web/console",
		"runtime/web/fetch", "runtime/web/formdata", "runtime/web/htmlrewriter", "runtime/web/iocontext", "runtime/web/language",
		"runtime/web/socket",
		"runtime/web/textcodec", "runtime/web/timers", "runtime/web/urlpattern", "runtime/web/webcrypto", "runtime/web/weburl",
	},
	"runtime/web/cache":       {"runtime/engine", "runtime/trace", "runtime/web/compression", "runtime/web/fetch", "runtime/web/iocontext"},
	"runtime/web/compression": {"runtime/deflate", "runtime/engine", "runtime/web/iocontext"},
	"runtime/web/console":     {"runtime/engine"},
	"runtime/web/fetch": {
		"runtime/engine", "runtime/trace", "runtime/web/compression", "runtime/web/iocontext", "runtime/web/mimetype", "runtime/web/weburl",
	},
	"runtime/web/formdata": {"runtime/engine", "runtime/web/mimetype"},
	"runtime/web/htmlrewriter": {
		"runtime/engine", "runtime/web/iocontext", "runtime/web/mimetype", "runtime/web/offload", "runtime/web/textcodec",
	},
	"runtime/web/iocontext":  {"runtime/engine"},
	"runtime/web/language":   {"runtime/engine", "runtime/expression", "runtime/web/offload"},
	"runtime/web/mimetype":   nil,
	"runtime/web/offload":    {"runtime/engine"},
	"runtime/web/socket":     {"runtime/engine", "runtime/web/fetch", "runtime/web/iocontext"},
	"runtime/web/textcodec":  {"runtime/engine", "runtime/web/offload"},
	"runtime/web/timers":     {"runtime/engine"},
	"runtime/web/urlpattern": {"runtime/engine", "runtime/web/weburl"},
	"runtime/web/webcrypto":  {"runtime/engine", "runtime/web/iocontext", "runtime/web/offload"},
	"runtime/web/streams":    {"runtime/engine/quickjspatch"},
	"runtime/web/webtest":    {"runtime/engine", "runtime/web", "runtime/web/console", "runtime/web/streams"},
	"runtime/web/weburl":     {"runtime/engine", "runtime/web/offload"},

	"runtime/intl":            {"runtime/engine", "runtime/intl/cldr", "runtime/intl/dictionary"},
	"runtime/intl/dictionary": nil,
	"runtime/intl/cldr":       nil,
	"runtime/intl/cldr/gen":   nil,
	"runtime/node":            {"runtime/deflate", "runtime/engine"},
	"runtime/wasm":            {"runtime/engine", "runtime/wasm/rewrite", "runtime/wasmbinary"},
	"runtime/wasm/rewrite":    {"runtime/wasmbinary", "runtime/wasmbinary/op"},
	"runtime": {
		"manifest/limits", "runtime/engine", "runtime/expression", "runtime/web", "runtime/web/console",
		"runtime/binding", "runtime/node", "runtime/trace", "runtime/wasm",
	},
	"migrate": {
		"manifest/diagnostic", "manifest/migrationfiles", "manifest/sitepath", "migrate/dbfile", "migrate/rowlimit", "migrate/sqltext",
	},
	"migrate/dbfile":            nil,
	"migrate/restorepoint":      {"migrate/dbfile"},
	"migrate/rowlimit":          {"migrate/dbfile", "migrate/sqltext"},
	"migrate/schemadiff":        {"migrate", "migrate/dbfile", "migrate/sqltext"},
	"migrate/snapshot":          {"migrate/dbfile", "migrate/statefolder"},
	"migrate/sqltext":           {"migrate/dbfile"},
	"migrate/statefolder":       nil,
	"migrate/transfer":          {"migrate", "migrate/dbfile", "migrate/sqltext"},
	"devserver/filewatch":       nil,
	"devserver/altcha":          nil,
	"devserver/formrow":         nil,
	"devserver/inspector":       {"devserver/loopback", "runtime/workerd"},
	"devserver/formrow/rowtest": nil,
	"devserver/loopback":        nil,
	"devserver/otlp":            {"devserver/site", "runtime/trace"},
	"devserver/pairing":         nil,
	"devserver/spam":            nil,
	"devserver/site": {
		"devserver/altcha", "devserver/formrow", "devserver/loopback", "devserver/pairing", "devserver/spam", "manifest",
		"manifest/edgerules",
		"manifest/fileindex",
		"manifest/formcheck", "manifest/htmlforms", "manifest/limits", "manifest/sitefile", "manifest/sitepath", "manifest/sourcetext",
		"runtime/trace",
	},
	"devserver/upstream": {"devserver/loopback", "devserver/site", "manifest"},
	"devserver": {
		"devserver/filewatch", "devserver/loopback", "devserver/site", "manifest", "manifest/diagnostic", "manifest/limits",
		"manifest/sitefile", "runtime/trace",
	},
	"toolapi": {"manifest/limits"},
	"toolapi/bundle": {
		"manifest", "manifest/diagnostic", "manifest/limits", "manifest/migrationfiles", "manifest/publicfiles", "manifest/sitefile",
		"manifest/sitepath", "manifest/validate", "toolapi",
	},
	"toolapi/bridge":      {"toolapi"},
	"toolapi/client":      {"toolapi"},
	"toolapi/deploy":      {"manifest/sitefile", "toolapi", "toolapi/client", "manifest", "manifest/limits"},
	"toolapi/conformance": {"manifest/limits", "toolapi"},
	"toolapi/oracle":      {"toolapi"},
	"toolapi/service": {
		"manifest", "manifest/diagnostic", "manifest/edgerules", "manifest/limits", "manifest/secretscan",
		"manifest/sitefile", "manifest/sitepath", "migrate", "migrate/dbfile", "toolapi", "toolapi/bundle", "toolapi/service/archive",
		"toolapi/service/blob",
	},
	"toolapi/service/archive": {"toolapi", "toolapi/bundle"},
	"toolapi/service/backup":  {"migrate/dbfile"},
	"toolapi/service/blob":    nil,
	"toolapi/service/outbox":  {"migrate/dbfile"},
	"cmd/internal/failure":    {"cmd/internal/userfile", "manifest", "manifest/diagnostic", "toolapi"},
	"cmd/internal/wording":    {"manifest/diagnostic"},
	"cmd/internal/project": {
		"bundler", "cmd/internal/failure", "cmd/internal/localsecrets", "cmd/internal/rehearsal", "cmd/internal/terminal",
		"cmd/internal/userfile", "cmd/internal/wording", "devserver/site", "manifest", "manifest/diagnostic", "manifest/edgerules",
		"manifest/packager", "manifest/publicfiles", "manifest/secretscan", "manifest/validate", "manifest/wrangler", "runtime/node",
	},
	"cmd/internal/devsession": {
		"bundler", "cmd/internal/devagent", "cmd/internal/devbackground", "cmd/internal/devcommand", "cmd/internal/failure",
		"cmd/internal/leadmail", "cmd/internal/localsecrets",
		"cmd/internal/localstate", "cmd/internal/migration",
		"cmd/internal/nodebindings", "cmd/internal/processmemory", "cmd/internal/project",
		"cmd/internal/singlekeys", "cmd/internal/siteworker",
		"cmd/internal/snapshots", "cmd/internal/terminal", "cmd/internal/userfile", "cmd/internal/wording", "devserver",
		"devserver/filewatch", "devserver/inspector", "devserver/loopback", "devserver/otlp", "devserver/pairing", "devserver/site",
		"devserver/upstream", "manifest",
		"manifest/diagnostic", "manifest/edgerules",
		"manifest/secretscan", "manifest/packager", "manifest/sitepath", "manifest/sourcetext", "manifest/starter", "migrate",
		"migrate/snapshot", "migrate/statefolder", "runtime",
		"runtime/binding", "runtime/binding/images",
		"runtime/binding/kv", "runtime/binding/r2", "runtime/binding/wire", "runtime/web/cache", "runtime/workerd",
	},
	"cmd/internal/devagent": {"cmd/internal/localstate", "cmd/internal/terminal", "devserver"},
	"cmd/internal/devbackground": {
		"cmd/internal/failure", "cmd/internal/localstate", "cmd/internal/userfile", "devserver", "migrate/statefolder",
	},
	"cmd/internal/doctor": {
		"cmd/internal/failure", "cmd/internal/localstate", "cmd/internal/migration", "cmd/internal/platform", "cmd/internal/project",
		"cmd/internal/projectfile", "cmd/internal/remote", "cmd/internal/terminal", "cmd/internal/userfile", "cmd/internal/wording",
		"devserver", "devserver/site", "manifest", "manifest/packager", "manifest/starter", "manifest/workertypes", "migrate",
		"migrate/statefolder", "runtime", "runtime/binding/r2", "runtime/workerd", "toolapi/service",
	},
	"cmd/internal/processmemory": nil,
	"cmd/internal/terminal":      {"cmd/internal/failure", "cmd/internal/userfile", "cmd/internal/wording", "manifest/diagnostic"},
	"cmd/internal/userfile":      nil,
	"cmd/internal/localstate": {
		"cmd/internal/failure", "cmd/internal/userfile", "cmd/internal/wording", "devserver/site", "manifest", "manifest/packager",
		"migrate", "migrate/dbfile", "migrate/snapshot", "migrate/statefolder", "runtime/binding", "runtime/binding/d1",
		"runtime/binding/images", "runtime/binding/kv", "runtime/binding/r2", "runtime/web/cache",
	},
	"cmd/internal/siteworker": {
		"devserver/site", "manifest", "runtime", "runtime/binding", "runtime/trace", "runtime/web", "runtime/workerd",
	},
	"cmd/internal/host": {
		"cmd/internal/localstate", "cmd/internal/siteworker", "cmd/internal/userfile", "cmd/internal/wording", "devserver/site",
		"manifest/edgerules", "manifest/sitefile", "manifest/sitepath", "migrate", "migrate/dbfile", "migrate/restorepoint",
		"migrate/statefolder", "migrate/transfer", "runtime", "runtime/binding/d1", "runtime/binding/images", "runtime/web/cache",
		"runtime/workerd", "toolapi", "toolapi/bundle", "toolapi/service",
	},
	"cmd/internal/projectfile": {"cmd/internal/userfile"},
	"cmd/internal/scaffold": {
		"cmd/internal/failure", "cmd/internal/localsecrets", "cmd/internal/projectfile", "cmd/internal/terminal",
		"cmd/internal/userfile", "cmd/internal/wording", "manifest", "manifest/diagnostic", "manifest/editor",
		"manifest/framework", "manifest/packager", "manifest/starter", "manifest/workertypes", "manifest/wrangler",
	},
	"cmd/internal/sqlshell": {
		"cmd/internal/failure", "cmd/internal/localstate", "cmd/internal/userfile", "cmd/internal/wording", "manifest/diagnostic",
		"migrate", "migrate/dbfile", "migrate/statefolder", "migrate/transfer", "runtime/binding/d1",
	},
	"cmd/internal/localsecrets": {"cmd/internal/failure", "cmd/internal/userfile", "manifest", "manifest/secretscan"},
	"cmd/pages": {
		"bundler", "bundler/cloudflare", "bundler/hashfile", "cmd/internal/devagent", "cmd/internal/devbackground",
		"cmd/internal/devcommand", "cmd/internal/devsession",
		"cmd/internal/docsearch", "cmd/internal/doctor", "cmd/internal/ending",
		"cmd/internal/failure", "cmd/internal/host", "cmd/internal/inbox", "cmd/internal/jsonshape", "cmd/internal/leadmail",
		"cmd/internal/localstate", "cmd/internal/manual",
		"cmd/internal/migration", "cmd/internal/misuse", "cmd/internal/platform", "cmd/internal/project", "cmd/internal/publish",
		"cmd/internal/pullrequest", "cmd/internal/rehearsal", "cmd/internal/remote", "cmd/internal/routing", "cmd/internal/scaffold",
		"cmd/internal/seed", "cmd/internal/siteworker", "cmd/internal/snapshots",
		"cmd/internal/sqlshell", "cmd/internal/terminal", "cmd/internal/toolcall", "cmd/internal/userfile", "cmd/internal/wording",
		"devserver", "devserver/filewatch", "devserver/site", "manifest", "manifest/diagnostic", "manifest/editor", "manifest/packager",
		"manifest/starter", "manifest/workertypes", "migrate", "migrate/snapshot", "migrate/statefolder", "migrate/transfer", "runtime",
		"runtime/binding/d1", "runtime/binding/images", "runtime/trace", "runtime/workerd", "toolapi", "toolapi/bridge", "toolapi/client",
		"toolapi/service", "toolapi/service/backup",
	},

	"cmd/internal/inbox": {
		"cmd/internal/failure", "cmd/internal/localstate", "cmd/internal/sqlshell", "cmd/internal/userfile", "cmd/internal/wording",
		"devserver", "devserver/site", "migrate", "migrate/statefolder", "migrate/transfer", "runtime/binding/d1", "runtime/binding/r2",
		"runtime/trace",
	},
	"cmd/internal/leadmail":          {"toolapi"},
	"cmd/internal/leadmail/smtptest": nil,
	"cmd/internal/platform": {
		"cmd/internal/failure", "cmd/internal/host", "cmd/internal/leadmail", "cmd/internal/localstate", "cmd/internal/siteworker",
		"cmd/internal/userfile", "cmd/internal/wording", "devserver", "migrate/dbfile", "migrate/statefolder", "toolapi", "toolapi/service",
		"toolapi/service/backup",
		"toolapi/service/outbox",
	},
	"cmd/internal/migration": {
		"cmd/internal/failure", "cmd/internal/localstate", "cmd/internal/terminal", "cmd/internal/userfile", "cmd/internal/wording",
		"manifest", "manifest/diagnostic", "migrate", "migrate/dbfile", "migrate/schemadiff", "migrate/statefolder",
		"migrate/transfer", "runtime/binding/d1",
	},
	"cmd/internal/rehearsal": {
		"cmd/internal/migration", "cmd/internal/wording", "manifest", "manifest/diagnostic", "manifest/migrationfiles", "migrate",
		"migrate/dbfile",
	},
	"cmd/internal/publish": {
		"bundler", "cmd/internal/failure", "cmd/internal/localsecrets", "cmd/internal/localstate", "cmd/internal/pullrequest",
		"cmd/internal/rehearsal", "cmd/internal/remote", "cmd/internal/terminal", "cmd/internal/toolcall", "cmd/internal/userfile",
		"cmd/internal/wording", "manifest", "manifest/diagnostic", "manifest/publicfiles", "manifest/sitefile", "migrate",
		"migrate/sqltext", "toolapi", "toolapi/client", "toolapi/deploy",
	},
	"cmd/internal/pullrequest": {"cmd/internal/failure"},
	"cmd/internal/remote": {
		"cmd/internal/failure", "cmd/internal/localstate", "cmd/internal/terminal", "cmd/internal/userfile", "cmd/internal/wording",
		"toolapi", "toolapi/client", "toolapi/deploy",
	},
	"cmd/internal/seed": {
		"cmd/internal/failure", "cmd/internal/migration", "cmd/internal/sqlshell", "cmd/internal/userfile", "cmd/internal/wording",
		"manifest", "migrate", "migrate/transfer",
	},
	"cmd/internal/snapshots": {"cmd/internal/failure", "cmd/internal/localstate", "cmd/internal/wording", "migrate/snapshot"},
	"cmd/internal/toolcall": {
		"cmd/internal/failure", "cmd/internal/remote", "cmd/internal/terminal", "cmd/internal/userfile", "cmd/internal/wording",
		"toolapi", "toolapi/client",
	},
	"cmd/internal/docsearch": {"cmd/internal/wording"},
	"cmd/internal/manual": {
		"cmd/internal/docsearch", "cmd/internal/failure", "cmd/internal/terminal", "cmd/internal/wording", "manifest", "manifest/limits",
		"manifest/sitepath",
	},
	"cmd/internal/misuse": {"cmd/internal/failure", "cmd/internal/manual", "cmd/internal/wording"},
	"cmd/internal/routing": {
		"bundler", "cmd/internal/failure", "cmd/internal/project", "cmd/internal/wording", "devserver/site", "manifest",
	},
	"cmd/internal/singlekeys":   nil,
	"cmd/internal/processgroup": nil,
	"cmd/internal/devcommand":   {"cmd/internal/processgroup"},
	"cmd/internal/nodebindings": {"runtime/binding", "runtime/binding/wire", "runtime/engine"},
	"cmd/internal/ending": {
		"cmd/internal/failure", "cmd/internal/publish", "cmd/internal/remote", "cmd/internal/terminal", "manifest/diagnostic",
	},
	"cmd/internal/jsonshape":        {"cmd/internal/ending", "devserver/site", "manifest/diagnostic", "runtime/trace", "toolapi"},
	"cmd/tools/testmachine":         nil,
	"cmd/tools/enginetest":          {"cmd/tools/testmachine", "runtime", "runtime/workerd"},
	"cmd/tools/artifacts":           {"runtime/engine/quickjspatch", "runtime/web/streams", "bundler/names"},
	"cmd/tools/artifacts/bootimage": {"runtime"},
	"npm":                           nil,
	"cmd/tools/release":             {"npm"},
	"cmd/tools/prose":               {},
	"cmd/tools/frontpeer":           {},
	"cmd/tools/crosscheck":          {},
	"cmd/tools/soak":                {"cmd/internal/processgroup"},
	"cmd/tools/test262":             {"runtime", "runtime/engine"},
	"cmd/tools/bench":               {"cmd/internal/processgroup", "manifest", "migrate"},

	"runtime/binding": {
		"runtime/binding/assets", "runtime/binding/d1", "runtime/binding/hostcall", "runtime/binding/images", "runtime/binding/kv",
		"runtime/binding/r2", "runtime/engine",
	},
	"runtime/binding/assets": {"runtime/binding/hostcall", "runtime/engine", "runtime/trace"},
	"runtime/binding/d1": {
		"migrate/rowlimit", "runtime/binding/hostcall", "runtime/binding/sqlitetext", "runtime/engine", "runtime/trace",
	},
	"runtime/binding/hostcall":      {"runtime/engine", "runtime/trace"},
	"runtime/binding/images":        {"runtime/binding/hostcall", "runtime/binding/images/raster", "runtime/engine", "runtime/trace"},
	"runtime/binding/images/raster": nil,
	"runtime/binding/kv": {
		"runtime/binding/hostcall", "runtime/binding/pin", "runtime/binding/sqlitetext", "runtime/engine", "runtime/trace",
	},
	"runtime/binding/pin": nil,
	"runtime/binding/r2": {
		"runtime/binding/hostcall", "runtime/binding/pin", "runtime/binding/sqlitetext", "runtime/engine", "runtime/trace",
	},
	"runtime/binding/sqlitetext": nil,
	"runtime/workerd": {
		"manifest/limits", "runtime", "runtime/binding", "runtime/binding/wire", "runtime/engine", "runtime/trace", "runtime/web",
		"runtime/web/cache", "runtime/web/compression", "runtime/web/console", "runtime/web/fetch",
	},
	"runtime/binding/wire": {
		"runtime/binding", "runtime/binding/assets", "runtime/binding/d1", "runtime/binding/hostcall", "runtime/binding/images",
		"runtime/binding/kv", "runtime/binding/r2", "runtime/engine", "runtime/trace", "runtime/web/cache",
		"runtime/web/fetch",
	},
	"runtime/engine/quickjspatch": {"runtime/wasmbinary", "runtime/wasmbinary/op"},
	"runtime/wasmbinary":          {"runtime/wasmbinary/op"},
	"runtime/wasmbinary/op":       nil,
}

// floors are the floors of ARCHITECTURE.md from the bottom up, as prefixes of rooms. The longest prefix counts.
var floors = [][]string{
	{"manifest", "npm"},
	{"bundler", "runtime", "migrate"},
	{"devserver", "toolapi"},
	{"cmd/internal"},
	{"cmd"},
}

// floorOf returns the floor that a room is on, -1 for none.
func floorOf(room string) int {
	floor, longest := -1, 0
	for i, prefixes := range floors {
		for _, prefix := range prefixes {
			if (room == prefix || strings.HasPrefix(room, prefix+"/")) && len(prefix) > longest {
				floor, longest = i, len(prefix)
			}
		}
	}
	return floor
}

// TestFloors: no room may import one of a floor above its own.
func TestFloors(t *testing.T) {
	for room, deps := range mayImport {
		if floorOf(room) < 0 {
			t.Errorf("%s is on no floor", room)
		}
		for _, dep := range deps {
			if floorOf(dep) > floorOf(room) {
				t.Errorf("%s may import %s, which is above it", room, dep)
			}
		}
	}
}

// TestRooms reads the source itself rather than asking "go list", so that go test's cache includes every file it depends on.
func TestRooms(t *testing.T) {
	root := filepath.Join("..", "..")
	docs := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		room := filepath.ToSlash(rel)
		allowed, ok := mayImport[room]
		if !ok {
			t.Errorf("%s: no such room in ARCHITECTURE.md", room)
		}
		if f.Doc != nil {
			docs[room]++
		}
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if dep, ours := strings.CutPrefix(imp, module); ours && !slices.Contains(allowed, dep) {
				t.Errorf("%s imports %s", path, dep)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room := range mayImport {
		if docs[room] != 1 {
			t.Errorf("%s: %d files carry a package comment, want 1", room, docs[room])
		}
	}
}
