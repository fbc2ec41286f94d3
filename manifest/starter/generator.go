package starter

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/framework"
)

// Generator is a program that builds a site from sources.
type Generator struct {
	Name    string // its name for people
	Output  string // its default output folder
	Command string // makes the site
	Install string // the steps that install it, as YAML list items of a GitHub workflow on Ubuntu
}

// FindGenerator looks for the generator of a project, by the files that its documentation asks for.
func FindGenerator(project fs.FS) (Generator, bool) {
	for _, find := range []func(fs.FS) (Generator, bool){hugo, zola, jekyll, mdBook, mkDocs, pelican, sphinx, byFramework} {
		if g, ok := find(project); ok {
			return g, true
		}
	}
	return Generator{}, false
}

func hugo(project fs.FS) (Generator, bool) {
	g := Generator{"Hugo", "public", "hugo", step("go install github.com/gohugoio/hugo@latest")}
	if list := textOf(project, "package.json"); strings.Contains(list, `"hugo-bin"`) || strings.Contains(list, `"hugo-extended"`) {
		g.Command, g.Install = "npx hugo", ""
	}
	if anyOf(project, "hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json",
		"config/_default/hugo.toml", "config/_default/hugo.yaml", "config/_default/config.toml") {
		return g, true
	}
	text := textOf(project, "config.toml", "config.yaml", "config.yml", "config.json")
	return g, strings.Contains(strings.ToLower(text), "baseurl") && (folder(project, "archetypes") || folder(project, "layouts") ||
		folder(project, "themes"))
}

func zola(project fs.FS) (Generator, bool) {
	g := Generator{"Zola", "public", "zola build", step("cargo install --locked --git https://github.com/getzola/zola")}
	if anyOf(project, "zola.toml") {
		return g, true
	}
	return g, strings.Contains(textOf(project, "config.toml"), "base_url") && (folder(project, "content") || folder(project, "templates"))
}

func jekyll(project fs.FS) (Generator, bool) {
	g := Generator{Name: "Jekyll", Output: "_site"}
	gems := textOf(project, "Gemfile")
	const setUp = "      - uses: ruby/setup-ruby@v1\n        with:\n          ruby-version: \"3.4\"\n"
	switch {
	case !anyOf(project, "_config.yml", "_config.toml"):
		return g, false
	case strings.Contains(gems, "jekyll") || strings.Contains(gems, "github-pages"):
		g.Command, g.Install = "bundle exec jekyll build", setUp+step("bundle install")
	case folder(project, "_posts") || folder(project, "_layouts"):
		g.Command, g.Install = "jekyll build", setUp+step("gem install jekyll")
	}
	return g, g.Command != ""
}

func mdBook(project fs.FS) (Generator, bool) {
	return Generator{"mdBook", "book", "mdbook build", step("cargo install --locked mdbook")}, anyOf(project, "book.toml")
}

func mkDocs(project fs.FS) (Generator, bool) {
	g := Generator{Name: "MkDocs", Output: "site", Command: "mkdocs build"}
	theme := "mkdocs"
	if strings.Contains(textOf(project, "mkdocs.yml", "mkdocs.yaml"), "name: material") {
		theme = "mkdocs-material"
	}
	g.Install = python(project, theme, "requirements.txt", "docs/requirements.txt")
	return g, anyOf(project, "mkdocs.yml", "mkdocs.yaml")
}

func pelican(project fs.FS) (Generator, bool) {
	install := python(project, `"pelican[markdown]"`, "requirements.txt")
	return Generator{"Pelican", "output", "pelican content", install}, anyOf(project, "pelicanconf.py")
}

// sphinx looks in the folders of sphinx-quickstart and Read the Docs. Its output lies beside its sources.
func sphinx(project fs.FS) (Generator, bool) {
	for _, place := range []struct{ source, build string }{
		{"docs", "docs/_build"},
		{"docs/source", "docs/build"},
		{".", "_build"},
		{"source", "build"},
		{"doc", "doc/_build"},
	} {
		text, err := fs.ReadFile(project, path.Join(place.source, "conf.py"))
		if err == nil && regexp.MustCompile(`(?m)^extensions\s*=`).Match(text) {
			install := python(project, "sphinx", path.Join(place.source, "requirements.txt"), "docs/requirements.txt", "requirements.txt")
			return Generator{"Sphinx", place.build + "/html", "sphinx-build -M html " + place.source + " " + place.build, install}, true
		}
	}
	return Generator{}, false
}

// byFramework is the generator of a project of a framework.
func byFramework(project fs.FS) (Generator, bool) {
	f, ok := framework.Find(project)
	return Generator{Name: f.Name, Output: f.Output, Command: f.Command}, ok
}

// python returns the steps that install the packages of the first existing list, or one package without a list.
func python(project fs.FS, name string, lists ...string) string {
	const setUp = "      - uses: actions/setup-python@v6\n        with:\n          python-version: \"3.14\"\n"
	for _, list := range lists {
		if regular(project, list) {
			return setUp + step("pip install -r "+list)
		}
	}
	return setUp + step("pip install "+name)
}

// step writes a command as a step of a workflow.
func step(command string) string { return "      - run: " + command + "\n" }

func anyOf(project fs.FS, names ...string) bool {
	return slices.ContainsFunc(names, func(file string) bool { return regular(project, file) })
}

// textOf returns the text of the first existing file.
func textOf(project fs.FS, names ...string) string {
	for _, name := range names {
		if text, err := fs.ReadFile(project, name); err == nil {
			return string(text)
		}
	}
	return ""
}
