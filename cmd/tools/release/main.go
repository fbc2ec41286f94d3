// Command release builds everything that a release of pages is: archives for six platforms, a set of npm packages, Debian
// packages, a bill of materials, a container recipe and checksums.
//
//	release --version 1.2.3 --commit 0123abcd --time 1760000000 --out bin/release
//
// The same source and flags give the same bytes on any machine at any time: times are --time, owners are root, names are sorted, and the
// binaries are built without paths. It needs the artifacts of cmd/tools/artifacts, and the network only for missing Go modules.
package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := &release{}
	var seconds int64
	var only string
	flag.StringVar(&r.version, "version", "", "of the release, such as 1.2.3 or 1.3.0-dev.g0123abc")
	flag.StringVar(&r.commit, "commit", "", "that it is built from")
	flag.Int64Var(&seconds, "time", 0, "of the commit, in seconds since 1970")
	flag.StringVar(&r.out, "out", filepath.Join("bin", "release"), "folder to write to")
	flag.StringVar(&only, "only", "", "platforms to build for, such as linux/amd64,darwin/arm64 (default: all)")
	flag.Parse()
	r.time = time.Unix(seconds, 0).UTC()
	if err := r.run(ctx, only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// versionForm matches the versions that npm and dpkg take: those of semver.org, without build metadata.
var versionForm = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func (r *release) run(ctx context.Context, only string) error {
	r.version = strings.TrimPrefix(r.version, "v")
	if !versionForm.MatchString(r.version) {
		return fmt.Errorf("--version %q: pass a version such as 1.2.3 or 1.3.0-dev.g0123abc", r.version)
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	extras, err := r.extras(ctx)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(platforms(), func(p platform) bool {
		return only != "" && !slices.Contains(strings.Split(only, ","), p.String())
	})
	if len(list) == 0 {
		return errors.New("--only names no platform")
	}
	for _, p := range list {
		fmt.Fprintln(os.Stderr, p)
		program, err := r.build(ctx, p)
		if err != nil {
			return err
		}
		if err := r.packages(p, program, extras); err != nil {
			return err
		}
		if p == list[0] {
			if err := r.materials(program); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(r.launcher(list), r.recipe()); err != nil {
		return err
	}
	return r.checksums()
}

// build builds the program for a platform and returns its bytes.
func (r *release) build(ctx context.Context, p platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "pages-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, p.binary())
	linked := fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.commit=%s", r.version, r.commit)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags", linked,
		"-o", file, "./cmd/pages")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("build for %s: %w", p, err)
	}
	return os.ReadFile(file)
}

// noticesName is the file with the licences of the data that the program embeds.
const noticesName = "NOTICES"

// extras are the other files of every package: the licences, and the manual and completions, which the
// program itself writes.
func (r *release) extras(ctx context.Context) ([]entry, error) {
	dir, err := os.MkdirTemp("", "pages-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	here := platform{runtime.GOOS, runtime.GOARCH}
	program, err := r.build(ctx, here)
	if err != nil {
		return nil, err
	}
	host := filepath.Join(dir, here.binary())
	if err := os.WriteFile(host, program, 0o755); err != nil {
		return nil, err
	}
	var list []entry
	for _, name := range []string{"LICENSE", noticesName, "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, entry{name, text, 0o644})
	}
	manual := filepath.Join(dir, "man")
	if err := exec.CommandContext(ctx, host, "man", manual).Run(); err != nil {
		return nil, fmt.Errorf("write the manual: %w", err)
	}
	pages, err := os.ReadDir(manual)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(manual, page.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, entry{"share/man/man" + strings.TrimPrefix(filepath.Ext(page.Name()), ".") + "/" + page.Name(), text, 0o644})
	}
	for shell, name := range map[string]string{
		"bash": "bash-completion/completions/pages", "zsh": "zsh/site-functions/_pages", "fish": "fish/vendor_completions.d/pages.fish",
	} {
		text, err := exec.CommandContext(ctx, host, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("write the completion of %s: %w", shell, err)
		}
		list = append(list, entry{"share/" + name, text, 0o644})
	}
	return list, nil
}

// packages writes the packages for the users of a platform.
func (r *release) packages(p platform, program []byte, extras []entry) error {
	folder := fmt.Sprintf("pages-%s-%s-%s", r.version, p.os, p.arch)
	files := []entry{{folder + "/" + p.binary(), program, 0o755}}
	for _, e := range extras {
		files = append(files, entry{folder + "/" + e.name, e.text, e.mode})
	}
	archive, err := tarball(files, r.time)
	name := folder + ".tar.gz"
	if p.os == "windows" {
		archive, err = makeZip(files, r.time)
		name = folder + ".zip"
	}
	if err != nil {
		return err
	}
	if err := r.write(name, archive); err != nil {
		return err
	}
	if err := r.npmBinary(p, program, extras); err != nil {
		return err
	}
	if p.os == "linux" {
		return r.debian(p, program, extras)
	}
	return nil
}

//go:embed Containerfile
var containerfile string

// recipe writes the container recipe for an image of the archive. The owner of the site runs the program, so that every user may
// write to /tmp, where the cache and the copies of `pages test` are.
func (r *release) recipe() error {
	return r.write("Containerfile", []byte(strings.ReplaceAll(containerfile, "{{version}}", r.version)))
}

// checksums writes SHA256SUMS, as sha256sum --check reads it.
func (r *release) checksums() error {
	slices.Sort(r.written)
	var b strings.Builder
	for _, name := range r.written {
		text, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(b.String()), 0o644)
}

// release is one release.
type release struct {
	version string
	commit  string
	time    time.Time // on every file
	out     string
	written []string // names of the written files, in out
}

// platform is a system that binaries are built for.
type platform struct{ os, arch string }

func platforms() []platform {
	return []platform{
		{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
	}
}

func (p platform) String() string { return p.os + "/" + p.arch }

// binary is the name of the program.
func (p platform) binary() string {
	if p.os == "windows" {
		return "pages.exe"
	}
	return "pages"
}

func (r *release) write(name string, text []byte) error {
	r.written = append(r.written, name)
	return os.WriteFile(filepath.Join(r.out, name), text, 0o644)
}
