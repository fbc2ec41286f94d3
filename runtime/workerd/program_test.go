package workerd

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// realProgram is the workerd that the tests run.
func realProgram(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "testdata", "sites", "workerd"))
	if err != nil {
		t.Fatal(err)
	}
	path, fault := fromPackages(realPath(dir))
	if fault != nil || path == "" {
		testmachine.Lacks(t, "workerd: make site", os.ErrNotExist)
	}
	return path
}

// tree writes files to a folder: "name: text" is a file, "name -> target" a link, and "name = real" the real program.
func tree(t *testing.T, lines ...string) (dir string) {
	t.Helper()
	dir = realPath(t.TempDir())
	for _, line := range lines {
		name, text, link := strings.Cut(line, " -> ")
		program := false
		if !link {
			if name, _, program = strings.Cut(line, " = real"); !program {
				name, text, _ = strings.Cut(line, ": ")
			}
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case program:
			err = os.Link(realProgram(t), path)
			if err != nil { // on another disk
				err = os.Symlink(realProgram(t), path)
			}
		case link:
			err = os.Symlink(filepath.FromSlash(text), path)
		default:
			err = os.WriteFile(path, []byte(strings.ReplaceAll(text, `\n`, "\n")), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFind: the places of the program, and their order.
func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		testmachine.Lacks(t, "links and programs of Linux", nil)
	}
	name := platformPackages[platform()]
	platformFiles := func(modules string) []string {
		return []string{modules + "/" + name + "/package.json: {}", modules + "/" + name + "/bin/workerd = real"}
	}
	with := func(lines []string, more ...string) []string { return append(lines, more...) }
	npm := with(platformFiles("node_modules"), "node_modules/workerd/package.json: {}",
		`node_modules/workerd/bin/workerd: #!/usr/bin/env node\n`, "node_modules/.bin/workerd -> ../workerd/bin/workerd")
	pnpm := with(platformFiles("node_modules/.pnpm/"+strings.ReplaceAll(name, "/", "+")+"@1/node_modules"),
		"node_modules/.pnpm/workerd@1/node_modules/workerd/package.json: {}",
		"node_modules/.pnpm/workerd@1/node_modules/"+name+" -> ../../../"+strings.ReplaceAll(name, "/", "+")+"@1/node_modules/"+name)
	for _, c := range []struct {
		name         string
		files        []string
		site         string
		path         string // the folders of PATH, relative to that of the files
		given        string
		source, want string // relative to the folder of the files
	}{
		{"npm", npm, "", "", "", "node_modules", "node_modules/" + name + "/bin/workerd"},
		{
			"above", with(npm, "packages/a/site/pages.deploy.json: {}"), "packages/a/site", "", "",
			"node_modules", "node_modules/" + name + "/bin/workerd",
		},
		{
			"pnpm", with(pnpm, "node_modules/workerd -> .pnpm/workerd@1/node_modules/workerd"), "", "", "", "node_modules",
			"node_modules/.pnpm/" + strings.ReplaceAll(name, "/", "+") + "@1/node_modules/" + name + "/bin/workerd",
		},
		{
			"pnpm, through a plug-in and wrangler", with(pnpm,
				"node_modules/.pnpm/p@1/node_modules/@cloudflare/vite-plugin/package.json: {}",
				"node_modules/.pnpm/w@1/node_modules/wrangler/package.json: {}",
				"node_modules/.pnpm/w@1/node_modules/workerd -> ../../workerd@1/node_modules/workerd",
				"node_modules/.pnpm/p@1/node_modules/wrangler -> ../../w@1/node_modules/wrangler",
				"node_modules/@cloudflare/vite-plugin -> ../.pnpm/p@1/node_modules/@cloudflare/vite-plugin"),
			"", "", "", "node_modules",
			"node_modules/.pnpm/" + strings.ReplaceAll(name, "/", "+") + "@1/node_modules/" + name + "/bin/workerd",
		},
		{
			"a nested one", with(platformFiles("node_modules/workerd/node_modules"), "node_modules/workerd/package.json: {}"), "", "", "",
			"node_modules", "node_modules/workerd/node_modules/" + name + "/bin/workerd",
		},
		{
			"what workerd fetched when it was installed", []string{
				"node_modules/workerd/package.json: {}",
				"node_modules/workerd/lib/downloaded-" + strings.Replace(name, "/", "-", 1) + "-workerd = real",
			}, "", "", "", "node_modules", "node_modules/workerd/lib/downloaded-" + strings.Replace(name, "/", "-", 1) + "-workerd",
		},
		{"PATH", []string{"bin/workerd = real"}, "site", "bin", "", "PATH", "bin/workerd"},
		{"the site before PATH", with(npm, "bin/workerd = real"), "", "bin", "", "node_modules", "node_modules/" + name + "/bin/workerd"},
		{"the commands of a project in PATH", npm, "", "node_modules/.bin", "", "PATH", "node_modules/" + name + "/bin/workerd"},
		{
			"what npm has beside its commands on Windows", with(platformFiles("npm/node_modules"), "npm/workerd: #!/bin/sh\n",
				"npm/node_modules/workerd/package.json: {}"), "", "npm", "", "PATH", "npm/node_modules/" + name + "/bin/workerd",
		},
		{
			"the variable", with(npm, "other/program = real", "bin/workerd = real"), "", "bin", "other/program",
			"PAGES_WORKERD", "other/program",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := tree(t, c.files...)
			at := Places{}
			if c.source != "PATH" || c.site != "" {
				at.Site = filepath.Join(dir, c.site)
			}
			if c.path != "" {
				at.Path = filepath.Join(dir, c.path)
			}
			if c.given != "" {
				at.Given = filepath.Join(dir, c.given)
			}
			p, err := Find(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(dir, c.want); p.Path != want || p.Source != c.source || p.Version < Oldest {
				t.Errorf("found %+v, want %s from %s", p, want, c.source)
			}
		})
	}
}

// elfOf is the head of a program for Linux.
func elfOf(machine elf.Machine) string {
	var b strings.Builder
	_ = binary.Write(&b, binary.LittleEndian, elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Ehsize: 64, Phentsize: 56, Shentsize: 64,
	})
	return b.String()
}

// elfLoadedBy is a program for this processor with a loader.
func elfLoadedBy(loader string) string {
	const header, segment = 64, 56
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	b := []byte(elfOf(machine))
	binary.LittleEndian.PutUint64(b[32:], header) // the place of the segments
	binary.LittleEndian.PutUint16(b[56:], 1)      // their number
	var s strings.Builder
	_ = binary.Write(&s, binary.LittleEndian, elf.Prog64{
		Type: uint32(elf.PT_INTERP), Off: header + segment, Filesz: uint64(len(loader) + 1), Memsz: uint64(len(loader) + 1),
	})
	return string(b) + s.String() + loader + "\x00"
}

// TestFindRefused: an unusable program is refused with the reason and the fix, and no later one takes its place.
func TestFindRefused(t *testing.T) {
	if runtime.GOOS != "linux" {
		testmachine.Lacks(t, "programs of Linux", nil)
	}
	other := map[string]elf.Machine{"amd64": elf.EM_AARCH64, "arm64": elf.EM_X86_64}[runtime.GOARCH]
	const npm = "npm i -D workerd"
	for _, c := range []struct {
		name    string
		files   []string
		mode    fs.FileMode // of the file in Given
		at      Places      // paths in the folder of the files
		present bool        // a file exists that cannot be used
		message string
		fix     string // a part of it
	}{
		{
			name: "nowhere", at: Places{Site: "site", Path: "bin"}, fix: "install it beside the site: " + npm,
			message: "workerd was found neither in the node_modules of DIR/site and the folders above it, nor in PATH",
		},
		{name: "no site", at: Places{Path: "bin"}, message: "workerd was not found in PATH", fix: npm},
		{name: "another package manager", at: Places{Site: "site", Install: "pnpm add -D workerd"}, fix: "pnpm add -D workerd"},
		{
			name: "Plug'n'Play", files: []string{".pnp.cjs: ", "site/package.json: {}"}, at: Places{Site: "site"},
			message: "nor in PATH, and DIR/.pnp.cjs keeps packages in archives, from which no program runs (Yarn Plug'n'Play)",
			fix:     "nodeLinker: node-modules",
		},
		{
			name: "a site of another system", files: []string{"node_modules/workerd/package.json: {}", "bin/workerd = real"},
			at: Places{Site: ".", Path: "bin"}, present: true, fix: "npm install",
			message: "DIR/node_modules/workerd is there without its package for this system, " + platformPackages[platform()],
		},
		{
			name: "no such file", at: Places{Given: "none"}, present: true, fix: "correct the path",
			message: "PAGES_WORKERD is DIR/none, which does not exist",
		},
		{
			name: "a folder", files: []string{"a/b: "}, at: Places{Given: "a"}, present: true, fix: npm,
			message: "DIR/a (PAGES_WORKERD) cannot be used as workerd: it is a folder",
		},
		{
			name: "no permission", files: []string{"a: " + elfOf(elf.EM_X86_64)}, mode: 0o644, at: Places{Given: "a"}, present: true,
			message: "it has no permission to execute", fix: "chmod +x DIR/a",
		},
		{
			name: "a script", files: []string{`a: #!/bin/sh\necho workerd 2026-11-17\n`}, at: Places{Given: "a"}, present: true,
			message: "it is a script, and not the program", fix: npm,
		},
		{
			name: "a text", files: []string{"a: not a program at all"}, at: Places{Given: "a"}, present: true,
			message: "it is not a program", fix: npm,
		},
		{name: "an empty file", files: []string{"a: "}, at: Places{Given: "a"}, present: true, message: "it is not a program", fix: npm},
		{
			name: "another processor", files: []string{"a: " + elfOf(other)}, at: Places{Given: "a"}, present: true,
			message: "it is a program for linux/", fix: npm,
		},
		{
			name: "an old processor", files: []string{"a: " + elfOf(elf.EM_PPC)}, at: Places{Given: "a"}, present: true,
			message: "another processor (EM_PPC)", fix: npm,
		},
		{
			name: "macOS", files: []string{"a: \xcf\xfa\xed\xfe\x0c\x00\x00\x01" + strings.Repeat("\x00", 24)}, at: Places{Given: "a"},
			present: true, message: "it is a program for darwin/arm64, and this is " + platform(), fix: npm,
		},
		{
			name:  "another loader, as on Alpine",
			files: []string{"a: " + elfLoadedBy("/lib/none.so")}, at: Places{Given: "a"}, present: true,
			message: "this system has not the loader that it needs, /lib/none.so: it is made for glibc", fix: "glibc 2.35 or later",
		},
		{
			name: "another program", files: []string{"a -> /bin/ls"}, at: Places{Given: "a"}, present: true,
			message: "asked for its version, it ", fix: npm,
		},
		{
			name: "a script in PATH", files: []string{`bin/workerd: #!/bin/sh\n`}, at: Places{Path: "bin"}, present: true,
			message: "(PATH) cannot be used as workerd: it is a script", fix: npm,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := tree(t, c.files...)
			for _, path := range []*string{&c.at.Given, &c.at.Site, &c.at.Path} {
				if *path != "" {
					*path = filepath.Join(dir, *path)
				}
			}
			if c.mode != 0 {
				if err := os.Chmod(c.at.Given, c.mode); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Find(t.Context(), c.at)
			fault, ok := errors.AsType[*FindError](err)
			if !ok {
				t.Fatalf("found, or failed by %v", err)
			}
			message, fix := strings.ReplaceAll(fault.Message, dir, "DIR"), strings.ReplaceAll(fault.Fix, dir, "DIR")
			if fault.Absent == c.present || !strings.Contains(message, c.message) || !strings.Contains(fix, c.fix) {
				t.Errorf("absent %v: %s\nfix: %s", fault.Absent, message, fix)
			}
		})
	}
}

// program is this test binary, which is a program of this system and prints the text of the variable.
func TestFindAsks(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ says, want string }{
		{"workerd 2026-11-17", ""},
		{"workerd 2099-01-01", ""},
		{"workerd " + Oldest, ""},
		{"workerd 2026-09-30", "version 2026-09-30 is too old: Workers have the compatibility date 2026-10-01"},
		{"workerd 2026-11-17 and more", `it says "workerd 2026-11-17 and more"`},
		{"", `it says ""`},
		{"FLOOD", `asked for its version, it says "xxxxxxxxxx`},
		{"FAIL", "asked for its version, it failed: version GLIBC_9.99 not found"},
	} {
		t.Run(c.says, func(t *testing.T) {
			// It gets its text through the only inherited variable that nothing else reads.
			t.Setenv("LD_LIBRARY_PATH", says+c.says)
			p, err := Find(t.Context(), Places{Given: self})
			if c.want == "" {
				if err != nil || p.Version != strings.TrimPrefix(c.says, "workerd ") {
					t.Errorf("found %+v, %v", p, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %+v, %v", p, err)
			}
		})
	}
	t.Run("ends with its caller", func(t *testing.T) {
		t.Setenv("LD_LIBRARY_PATH", says+"HANG")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := Find(ctx, Places{Given: self}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("gets no secrets", func(t *testing.T) {
		t.Setenv("PAGES_API_KEY", "ws_secret")
		for _, variable := range environment() {
			if strings.Contains(variable, "ws_secret") {
				t.Error(variable)
			}
		}
	})
}

// says is the prefix of the variable's value that makes this program act as workerd.
const says = "says:"

func TestMain(m *testing.M) {
	if what, ok := strings.CutPrefix(os.Getenv("LD_LIBRARY_PATH"), says); ok && len(os.Args) == 2 && os.Args[1] == "--version" {
		switch what {
		case "FLOOD":
			for range 1000 {
				os.Stdout.WriteString(strings.Repeat("x", 10_000))
			}
		case "FAIL":
			os.Stderr.WriteString("version GLIBC_9.99 not found\nand more\n")
			os.Exit(1)
		case "HANG":
			time.Sleep(time.Hour)
		default:
			os.Stdout.WriteString(what + "\n")
		}
		return
	}
	os.Exit(m.Run())
}
