// Package cloudflare writes a site as a Cloudflare Workers project, so that a site that outgrows its host runs there with its
// code unchanged.
//
// Input: a [bundler.Bundle] and its manifest. Output: a folder that wrangler can run and deploy: the Worker, the static
// files, the migrations, a configuration with every binding, and a small Worker in front of the site's with the platform's
// order of decisions (members gate, routes, files, forms). Writing again replaces the generated files and keeps everything
// else, including ids of databases in the configuration. Errors are those of the file system, and [NotOursError].
//
// The package runs no wrangler and needs no account. It is safe for concurrent use on different folders.
package cloudflare

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/fileindex"
	"github.com/pages-toolchain/pages/manifest/htmlforms"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

//go:embed front project
var sources embed.FS

// configFile is the configuration of the project. A folder with a generated one may be written again.
const configFile = "wrangler.jsonc"

// Person is a persona to sign in as under wrangler dev.
type Person struct {
	Key      string `json:"key"`
	ID       string `json:"id"`
	Email    string `json:"email"`
	Name     string `json:"name"`
	Outsider bool   `json:"outsider"`
}

// Options complete the bundle.
type Options struct {
	Name       string   // the Worker's: lower-case letters, digits and dashes
	People     []Person // the personas under wrangler dev
	SessionKey string   // signs their sessions, in a file that is not deployed
}

// NotOursError means that a folder is not an earlier output, or has a foreign file with the name of one of the project.
type NotOursError struct {
	Dir  string
	File string // relative to Dir; "" for the folder itself
}

func (e NotOursError) Error() string {
	if e.File != "" {
		return fmt.Sprintf("%q has %q in it, which pages did not write: move it away, or choose an empty folder", e.Dir, e.File)
	}
	return fmt.Sprintf("%q has files in it that pages did not write: choose an empty folder", e.Dir)
}

// Write writes the project to dir, and makes a missing folder; one that is neither empty nor an earlier output is a
// NotOursError, and so is a file of the user in the place of one of the project. Other files stay. m is the manifest of b. It
// returns the parts of the site that are left out, a sentence each.
func Write(b *bundler.Bundle, m *manifest.Manifest, dir string, o Options) (left []string, err error) {
	before, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	texts, err := texts(b, m, o, before)
	if err != nil {
		return nil, err
	}
	out, err := openOutput(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.root.Close()) }()
	for _, name := range keptFiles {
		if _, err := out.root.Lstat(name); err == nil {
			delete(texts, name)
		}
	}
	files := slices.DeleteFunc(slices.Collect(maps.Keys(texts)), func(name string) bool { return slices.Contains(keptFiles, name) })
	public := map[string]sitefile.Asset{}
	for _, a := range b.Assets {
		name := path.Join("public", a.Path)
		public[name], files = a, append(files, name)
	}
	slices.Sort(files)
	if err := out.claim(files); err != nil {
		return nil, err
	}
	for name, text := range texts {
		mode := fs.FileMode(0o644)
		if name == ".dev.vars" {
			mode = 0o600
		}
		if err := out.write(name, bytes.NewReader(text), mode); err != nil {
			return nil, err
		}
	}
	for name, a := range public {
		if !strings.EqualFold(a.Path, "/"+sitepath.RedirectsFile) {
			if err := out.copy(a, name); err != nil {
				return nil, err
			}
			continue
		}
		text, err := os.ReadFile(a.File)
		if err != nil {
			return nil, err
		}
		kept, rules := keepRedirects(string(text), fallbackLines(b))
		left = append(left, rules...)
		if err := out.write(name, strings.NewReader(kept), 0o644); err != nil {
			return nil, err
		}
	}
	return append(left, leftOut(b, m)...), out.list(files)
}

// leftOut lists the features of forms that the project lacks, one sentence for each.
func leftOut(b *bundler.Bundle, m *manifest.Manifest) []string {
	var about front
	if err := about.readForms(b, m); err != nil || len(about.Asked)+len(m.Forms) == 0 {
		return nil // an error came before
	}
	left := []string{
		"the spam filter and proofs of work are left out: every post of a form is a lead there, without the fields _stamp, altcha, " +
			"_gotcha, _honey and bot-field",
		"mail to the owner and webhooks are left out: leads and events are rows of " + platformDatabase,
		"files that visitors send are left out: a lead has their names, sizes, types and SHA-256",
	}
	if m.Bindings.Submissions != "" {
		left = append(left, "the retry of rows is left out: one that the table "+m.Bindings.Submissions+" refuses is noted on its lead")
	}
	return left
}

// keepRedirects removes from the text of _redirects the rules that serve another file at a path: Cloudflare would apply them after the
// members gate, which checks the requested path. The Worker in front follows the rules of the given lines.
func keepRedirects(text string, followed map[int]bool) (kept string, left []string) {
	var out strings.Builder
	number := 0
	for line := range strings.Lines(text) {
		if number++; followed[number] {
			continue
		}
		rule, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(rule)
		if len(fields) < 3 || slices.Contains([]string{"301", "302", "303", "307", "308"}, fields[2]) {
			out.WriteString(line)
			continue
		}
		left = append(left, fmt.Sprintf("the rule %q of %s is left out: only redirects are copied",
			strings.TrimSpace(rule), sitepath.RedirectsFile))
	}
	return out.String(), left
}

// keptFiles are written once, and then belong to the user.
var keptFiles = []string{"package.json", ".dev.vars", ".gitignore"}

// addWorker adds the site's Worker to the files of the project. A Worker that is not bundled may have modules of any name, so it gets a
// separate folder: its "./index.js" or "./members.js" must not replace the front door's.
func addWorker(files map[string][]byte, w *bundler.Worker) {
	const entry = "src/site.js"
	folder := path.Dir(entry)
	files[entry] = w.Code
	if slices.ContainsFunc(w.Modules, func(m bundler.Module) bool { return m.Kind == bundler.KindScript }) {
		folder = "src/site"
		files[path.Join(folder, w.Name)] = w.Code
		files[entry] = fmt.Appendf(nil, "export * from %[1]q;\nexport { default } from %[1]q;\n", "./site/"+w.Name)
	}
	if w.Map != nil {
		files[path.Join(folder, w.Name+".map")] = w.Map
	}
	for _, module := range w.Modules {
		files[path.Join(folder, module.Specifier)] = module.Bytes
	}
}

// texts returns the files of the project, by name, without the static files.
func texts(b *bundler.Bundle, m *manifest.Manifest, o Options, before config) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, from := range []struct{ folder, to string }{{"front", "src"}, {"project", ""}} {
		err := fs.WalkDir(sources, from.folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := sources.ReadFile(name)
			to := path.Join(from.to, strings.TrimPrefix(name, from.folder+"/"))
			files[strings.Replace(to, "dot-", ".", 1)] = []byte(strings.ReplaceAll(string(text), "{{name}}", o.Name))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	files["src/site.js"] = []byte("export default undefined; // a site without a Worker\n")
	if b.Worker != nil {
		addWorker(files, b.Worker)
	}
	for i, name := range migrationNames(b.Migrations) {
		files["migrations/"+name] = b.Migrations[i].SQL
	}
	about := frontConfig(b, m, o)
	if err := about.readForms(b, m); err != nil {
		return nil, err
	}
	front, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return nil, err
	}
	files["src/config.js"] = fmt.Appendf(nil,
		"// The site's routes and forms for the front, from %s.\nexport default %s;\n", manifest.FileName, front)
	vars := fmt.Appendf(nil, "# For wrangler dev only: sign in as one of the people in src/config.js.\n"+
		"PAGES_SIGN_IN=personas\nPAGES_SESSION_KEY=%s\n", o.SessionKey)
	if len(m.Bindings.Secrets) > 0 {
		vars = append(vars, "# The site's secrets; in production: wrangler secret put NAME\n"...)
	}
	for _, name := range m.Bindings.Secrets {
		vars = append(vars, name+"=\n"...)
	}
	files[".dev.vars"] = vars
	files[configFile], err = newConfig(b, m, o, before).text()
	return files, err
}

// front is the configuration of the Worker in front of the site's.
type front struct {
	Worker      bool             `json:"worker"`
	Routes      []manifest.Route `json:"routes"`
	Guarded     []string         `json:"guarded"` // folded paths of guarded files
	NotFound    []notFound       `json:"notFound"`
	Submissions string           `json:"submissions"`
	Forms       []manifest.Form  `json:"forms"`
	Personas    []Person         `json:"personas"`
	Fallbacks   []fallback       `json:"fallbacks"`
	// Asked has the names of the fields, in lower case, of each form in a page.
	Asked map[string][]string `json:"asked"`
	// Origins has the origin whose scripts may send a form, by the path of the form's address.
	Origins map[string]origin `json:"origins"`
}

// fallback is a rule "/folder/* /page 200": its page answers requests that nothing else answers.
type fallback struct {
	Folder string `json:"folder"` // without a slash at the end
	Page   string `json:"page"`   // the decoded path that sends the page
}

// fallbacks lists such rules of a bundle's "_redirects", with the addresses of their pages.
func fallbacks(b *bundler.Bundle) (rules []edgerules.Fallback, list []fallback) {
	files, text := fileindex.Index[struct{}]{}, ""
	for _, a := range b.Assets {
		files[a.Path] = struct{}{}
		if a.Path == "/"+sitepath.RedirectsFile {
			read, err := os.ReadFile(a.File)
			if err != nil {
				continue // copying it says so
			}
			text = string(read)
		}
	}
	parsed, _ := edgerules.Parse("", text) // the build has already reported invalid lines
	list = []fallback{}
	for _, rule := range parsed.Fallbacks() {
		if _, redirect, ok := files.Resolve(rule.Page); ok {
			list = append(list, fallback{rule.Folder, cmp.Or(redirect, rule.Page)})
			rules = append(rules, rule)
		}
	}
	return rules, list
}

func fallbackLines(b *bundler.Bundle) map[int]bool {
	lines := map[int]bool{}
	rules, _ := fallbacks(b)
	for _, rule := range rules {
		lines[rule.Line] = true
	}
	return lines
}

type notFound struct {
	Folder  string `json:"folder"` // without a slash at the end
	Guarded bool   `json:"guarded"`
}

func frontConfig(b *bundler.Bundle, m *manifest.Manifest, o Options) front {
	f := front{
		Worker: b.Worker != nil, Routes: append([]manifest.Route{}, m.Routes...), Guarded: []string{}, NotFound: []notFound{},
		Submissions: m.Bindings.Submissions, Forms: append([]manifest.Form{}, m.Forms...), Personas: append([]Person{}, o.People...),
	}
	_, f.Fallbacks = fallbacks(b)
	table := manifest.NewRouteTable(m.Routes)
	for _, a := range b.Assets {
		gated := table.JudgeFile(a.Path).Gated()
		if gated {
			for _, name := range manifest.FileNames(a.Path) {
				f.Guarded = append(f.Guarded, sitepath.FoldPath(name))
			}
		}
		if folder, ok := strings.CutSuffix(a.Path, "/404.html"); ok {
			f.NotFound = append(f.NotFound, notFound{folder, gated})
		}
	}
	slices.Sort(f.Guarded)
	f.Guarded = slices.Compact(f.Guarded)
	return f
}

// origin is the origin that a rule of "_headers" allows.
type origin struct {
	Origin      string `json:"origin"`
	Credentials bool   `json:"credentials"`
}

// readForms finds the forms in the pages of the bundle, and who may send them.
func (f *front) readForms(b *bundler.Bundle, m *manifest.Manifest) error {
	f.Asked, f.Origins = map[string][]string{}, map[string]origin{}
	var search htmlforms.Search
	headers := ""
	for _, a := range b.Assets {
		dir, name := filepath.Split(a.File)
		if strings.EqualFold(a.Path, "/"+sitepath.HeadersFile) {
			text, err := os.ReadFile(a.File)
			if err != nil {
				return err
			}
			headers = string(text)
		}
		if !strings.HasPrefix(a.ContentType, "text/html") {
			continue
		}
		err := search.Read(os.DirFS(dir), name, strings.TrimPrefix(a.Path, "/"))
		if err != nil && !errors.Is(err, htmlforms.ErrTooMuch) {
			return err
		}
	}
	paths := []string{formsPath}
	for name, fields := range htmlforms.Fields(search.Forms) {
		f.Asked[name] = slices.Sorted(maps.Keys(fields))
		paths = append(paths, formsPath+"/"+name)
	}
	for _, form := range m.Forms {
		paths = append(paths, formsPath+"/"+form.Name)
	}
	rules, _ := edgerules.Parse(headers, "")
	for _, path := range paths {
		var o origin
		for _, c := range rules.Headers("", path) {
			switch c.Name {
			case "Access-Control-Allow-Origin":
				o.Origin = c.Value
			case "Access-Control-Allow-Credentials":
				o.Credentials = c.Value == "true"
			}
		}
		if o.Origin != "" {
			f.Origins[path] = o
		}
	}
	return nil
}

// formsPath is the address of forms; that of one form has its name below.
const formsPath = "/" + sitepath.ReservedPages + "/forms"

var numbered = regexp.MustCompile(`^([0-9]+)_`)

// migrationNames returns names by which wrangler applies the migrations in their order: by the number that each begins with.
// Unless all names have ascending numbers, it numbers them all.
func migrationNames(migrations []bundler.Migration) []string {
	names := make([]string, len(migrations))
	last, ordered := "", true
	for i, m := range migrations {
		names[i] = m.Name
		digits := numbered.FindStringSubmatch(m.Name)
		if digits == nil {
			ordered = false
			continue
		}
		number := strings.TrimLeft(digits[1], "0")
		if i > 0 && cmp.Or(cmp.Compare(len(number), len(last)), strings.Compare(number, last)) <= 0 {
			ordered = false
		}
		last = number
	}
	if ordered {
		return names
	}
	for i := range names {
		names[i] = fmt.Sprintf("%04d_%s", i+1, names[i])
	}
	return names
}
