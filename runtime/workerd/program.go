package workerd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Oldest is the oldest version that can run a Worker: a version is the latest compatibility date that the program knows, and Workers
// have the date 2026-10-01.
const Oldest = "2026-10-01"

// Variable is the environment variable that names the program.
const Variable = "PAGES_WORKERD"

// Program is an executable of workerd.
type Program struct {
	Path    string
	Version string // "2026-11-17"
	// Source is the place where it was found: PAGES_WORKERD, node_modules or PATH.
	Source string
}

// Places are the places that Find searches, in order. It skips empty ones.
type Places struct {
	Given string // the path in PAGES_WORKERD: Find ignores the others then
	Site  string // the folder of a site, from which packages are resolved as in Node.js
	Path  string // the folders of PATH
	// Install is the command that installs the package for the site. Default: "npm i -D workerd".
	Install string
}

// FindError is the reason why no workerd can run, with the way to get one.
type FindError struct {
	// Absent is true if nothing was found, and false for an unusable program.
	Absent       bool
	Message, Fix string
	Err          error
}

func (e *FindError) Error() string { return e.Message }

func (e *FindError) Unwrap() error { return e.Err }

// Find finds the program and asks it for its version. It fetches nothing. The error is a *FindError, or that of ctx. An unusable program is
// an error: Find does not search further.
func Find(ctx context.Context, at Places) (Program, error) {
	p, err := at.look()
	if err != nil {
		return Program{}, err
	}
	if err := p.check(); err != nil {
		return Program{}, at.unusable(p, err)
	}
	if p.Version, err = p.ask(ctx); err == nil && p.Version < Oldest {
		err = &faultError{
			fmt.Sprintf("version %s is too old: Workers have the compatibility date %s", p.Version, Oldest),
			"update it: " + at.install(), nil,
		}
	}
	if ctx.Err() != nil {
		return Program{}, context.Cause(ctx)
	}
	if err != nil {
		return Program{}, at.unusable(p, err)
	}
	return p, nil
}

func (at Places) install() string { return cmp.Or(at.Install, "npm i -D workerd") }

// look returns the first file that could be the program.
func (at Places) look() (Program, error) {
	if at.Given != "" {
		return Program{Path: at.Given, Source: Variable}, nil
	}
	pnp := ""
	if at.Site != "" {
		site := realPath(at.Site)
		path, err := fromPackages(site)
		if err != nil {
			err.Fix = cmp.Or(err.Fix, at.install())
			return Program{}, err
		}
		if path != "" {
			return Program{Path: path, Source: "node_modules"}, nil
		}
		pnp = plugAndPlay(site)
	}
	if path := fromPath(at.Path); path != "" {
		return Program{Path: path, Source: "PATH"}, nil
	}
	absent := &FindError{
		Absent: true, Message: "workerd was found neither in the node_modules of " + at.Site + " and the folders above it, nor in PATH",
		Fix: "install it beside the site: " + at.install() + "; or name its path in " + Variable,
	}
	if at.Site == "" {
		absent.Message = "workerd was not found in PATH"
	}
	if pnp != "" {
		absent.Message += ", and " + pnp + " keeps packages in archives, from which no program runs (Yarn Plug'n'Play)"
		absent.Fix = "set nodeLinker: node-modules in .yarnrc.yml and add workerd, or name its path in " + Variable
	}
	return Program{}, absent
}

// faultError is a fault of a candidate for the program.
type faultError struct {
	reason, fix string
	err         error
}

func (e *faultError) Error() string { return e.reason }

func (e *faultError) Unwrap() error { return e.err }

// unusable is the error of a found program that cannot be used.
func (at Places) unusable(p Program, err error) error {
	found, reason := &FindError{Err: err}, reasonOf(err)
	fault, ofFile := errors.AsType[*faultError](err)
	if ofFile {
		found.Fix, reason = fault.fix, fault.reason
	}
	found.Message = fmt.Sprintf("%s (%s) cannot be used as workerd: %s", p.Path, p.Source, reason)
	switch {
	case p.Source != Variable:
		found.Fix = cmp.Or(found.Fix, at.install())
	case !ofFile && errors.Is(err, fs.ErrNotExist):
		found.Message = fmt.Sprintf("%s is %s, which does not exist", Variable, p.Path)
		found.Fix = "correct the path, or unset the variable and install workerd beside the site: " + at.install()
	default:
		found.Fix = cmp.Or(found.Fix, "name the program itself in "+Variable+", or unset it and install workerd: "+at.install())
	}
	return found
}

// reasonOf returns an error's text without the path, which the surrounding sentence names.
func reasonOf(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// check looks at the file without running it.
func (p Program) check() error {
	info, err := os.Stat(p.Path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return &faultError{"it is a folder", "", nil}
	case !info.Mode().IsRegular():
		return &faultError{"it is not a regular file", "", nil}
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return &faultError{"it has no permission to execute", "chmod +x " + p.Path, nil}
	}
	return checkExecutable(p.Path)
}

const (
	// versionTime is how long the program may take to print its version; the first start on a machine reads it from the disk.
	versionTime = 20 * time.Second
	// versionText is the limit of that output, in bytes.
	versionText = 4 << 10
)

var versionLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^workerd (\d{4}-\d{2}-\d{2})\s*$`) })

// ask runs the program for its version.
func (p Program) ask(ctx context.Context) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	out, problems := &head{}, &head{}
	run := exec.CommandContext(bounded, p.Path, "--version")
	run.Stdout, run.Stderr, run.WaitDelay = out, problems, time.Second
	run.Env = environment()
	err := run.Run()
	if m := versionLine().FindSubmatch(out.kept); m != nil && err == nil {
		return string(m[1]), nil
	}
	said := firstLine(problems.kept)
	switch {
	case bounded.Err() != nil:
		return "", &faultError{fmt.Sprintf("it did not tell its version within %v", versionTime), "", err}
	case errors.Is(err, fs.ErrNotExist): // the file exists: its loader is missing
		return "", &faultError{
			"this system has not the loader that it needs, " + loaderOf(p.Path) + ": it is made for glibc",
			"use a system with glibc 2.35 or later, such as Debian 12, or the built-in engine", err,
		}
	case err != nil && said != "":
		return "", &faultError{"asked for its version, it failed: " + said, "", err}
	case err != nil:
		return "", &faultError{"asked for its version, it failed: " + reasonOf(err), "", err}
	}
	return "", &faultError{fmt.Sprintf("asked for its version, it says %q", firstLine(out.kept)), "", nil}
}

// head keeps the first bytes of the output.
type head struct{ kept []byte }

// Write implements io.Writer.
func (h *head) Write(b []byte) (int, error) {
	h.kept = append(h.kept, b[:min(len(b), versionText-len(h.kept))]...)
	return len(b), nil
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	const most = 200
	return strings.ToValidUTF8(line[:min(len(line), most)], "")
}

// realPath returns a path without links, or the path itself if links cannot be read.
func realPath(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}
