package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/workertypes"
)

func (d *examination) checkManifest(context.Context) []Finding {
	r := d.refused.Report
	switch {
	case d.manifest == nil:
		return breaks("manifest", "pages validate shows each", "%s is refused: %s", r.File, wording.Count(len(r.Diagnostics), "problem"))
	case len(r.Diagnostics) > 0:
		return warns("manifest", "pages validate shows each", "%s is valid, with %s", r.File, wording.Count(len(r.Diagnostics), "warning"))
	}
	return well("manifest", "%s is valid", r.File)
}

// checkPackages checks that the packages of package.json are installed, and Node.js, which installs them and runs most tests.
func (d *examination) checkPackages(ctx context.Context) []Finding {
	text, err := userfile.ReadRegular(filepath.Join(d.options.Dir, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return notLooked("packages", "the site has no package.json")
	}
	var list struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return breaks("packages", "correct the file", "package.json cannot be read: %s", failure.Reason(err))
	}
	var missing []string
	for name := range list.Dependencies {
		if !isInstalled(d.options.Dir, name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	found := well("packages", "%s installed", wording.Count(len(list.Dependencies), "package"))
	if len(missing) > 0 {
		found = breaks("packages", packager.Of(d.options.Dir).Install(), "not installed: %s", strings.Join(missing, ", "))
	}
	return append(found, d.checkNode(ctx)...)
}

// isInstalled reports whether a package is in a node_modules folder at or above dir.
func isInstalled(dir, name string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if userfile.IsFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json")) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func (d *examination) checkNode(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return warns("node", "install Node.js 20 or later", "Node.js is not installed: npm and most tests need it, sites do not")
	}
	return well("node", "%s", strings.TrimSpace(string(out)))
}

func (d *examination) checkTypes(context.Context) []Finding {
	if d.manifest == nil {
		return nil
	}
	path := filepath.Join(d.options.Dir, workertypes.FileName)
	text, err := userfile.ReadRegular(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing && (!d.usesTypeScript() || d.hasDeclarations()) {
		return nil
	}
	if err != nil && !missing {
		return breaks("types", "", "%s cannot be read: %s", workertypes.FileName, failure.Reason(err))
	}
	want := workertypes.Declare(d.manifest)
	message := workertypes.FileName + " is out of date"
	switch {
	case missing:
		message = workertypes.FileName + " is missing: it has the types of the Worker's env"
	case workertypes.Same(text, want), !workertypes.Own(text):
		return well("types", "%s is up to date", workertypes.FileName)
	}
	return []Finding{{Check: "types", Status: warned, Message: message, mend: d.rewrite(workertypes.FileName, want)}}
}

// rewrite replaces the text of a file of the site, unless a link leads it out of the site's folder.
func (d *examination) rewrite(name string, text []byte) func(context.Context) error {
	return func(context.Context) (err error) {
		p, err := projectfile.Open(d.options.Dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		f, err := p.Read(name)
		if err != nil {
			return err
		}
		f.After, f.Mark = text, false // the text includes a byte order mark that must stay
		return f.Write(p)
	}
}

// usesTypeScript reports whether TypeScript checks the Worker, and whether env has names that it should know.
func (d *examination) usesTypeScript() bool {
	b := d.manifest.Bindings
	binds := len(b.Secrets) > 0 || b.Database != nil || b.Storage != nil || b.KV != nil || b.Images ||
		b.ProjectDatabase != manifest.ProjectNone
	script := filepath.Ext(d.manifest.Entry)
	return binds && slices.Contains([]string{".ts", ".mts", ".cts", ".tsx"}, script) &&
		userfile.IsFile(filepath.Join(d.options.Dir, "tsconfig.json"))
}

// hasDeclarations reports whether a declaration file lies beside the manifest or one folder below: the types may be in
// another file, or the site's own.
func (d *examination) hasDeclarations() bool {
	return slices.ContainsFunc([]string{"*.d.ts", "*/*.d.ts"}, func(pattern string) bool {
		found, _ := fs.Glob(os.DirFS(d.options.Dir), pattern) // the pattern is valid
		return len(found) > 0
	})
}

func (d *examination) checkSecrets(ctx context.Context) []Finding {
	if d.manifest == nil || len(d.manifest.Bindings.Secrets) == 0 {
		return nil
	}
	values, warnings, err := d.options.Sites.LocalSecrets(d.options.Dir).Values(ctx, d.manifest.Bindings.Secrets)
	if err != nil {
		return breaks("secrets", "correct the file", "%s", err)
	}
	if len(warnings) > 0 {
		return warns("secrets", "write lines of NAME=value into .dev.vars, or begin with a copy of .dev.vars.example",
			"%s", strings.Join(warnings, "; "))
	}
	return well("secrets", "%s", wording.Count(len(values), "value"))
}

// checkIgnore checks that version control ignores secrets and state.
func (d *examination) checkIgnore(context.Context) []Finding {
	if packager.Checkout(d.options.Dir) == "" {
		return notLooked("gitignore", "the site is not in a checkout")
	}
	path := filepath.Join(d.options.Dir, ".gitignore")
	before, err := userfile.ReadRegular(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return breaks("gitignore", "", ".gitignore cannot be read: %s", failure.Reason(err))
	}
	after := starter.Ignore(before)
	if len(after) == len(before) {
		return well("gitignore", "secrets and state stay out of version control")
	}
	missing := strings.Join(strings.Fields(string(after[len(before):])), " ")
	return []Finding{{
		Check: "gitignore", Status: warned, Message: "these lines are missing in .gitignore: " + missing,
		mend: d.rewrite(".gitignore", after),
	}}
}
