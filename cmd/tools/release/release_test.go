package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// packed writes all packages of the platforms for a program, without building it.
func packed(t *testing.T, program []byte, list ...platform) *release {
	t.Helper()
	r := &release{version: "1.2.3", commit: "0123", time: time.Unix(1_760_000_000, 0).UTC(), out: t.TempDir()}
	extras := []entry{
		{"LICENSE", []byte("MIT"), 0o644},
		{"NOTICES", []byte("Unicode"), 0o644},
		{"share/man/man1/pages.1", []byte(".TH"), 0o644},
		{"share/zsh/site-functions/_pages", []byte("#compdef"), 0o644},
	}
	for _, p := range list {
		if err := r.packages(p, program, extras); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.launcher(list); err != nil {
		t.Fatal(err)
	}
	if err := r.recipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.checksums(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPackages: a release has one package of each kind with the right checksum, and a second build gives the same bytes.
func TestPackages(t *testing.T) {
	a, b := packed(t, []byte("program"), platforms()...), packed(t, []byte("program"), platforms()...)
	want := []string{
		"Containerfile", "pages-1.2.3-darwin-amd64.tar.gz", "pages-1.2.3-darwin-arm64.tar.gz",
		"pages-1.2.3-linux-amd64.tar.gz", "pages-1.2.3-linux-arm64.tar.gz",
		"pages-1.2.3-windows-amd64.zip", "pages-1.2.3-windows-arm64.zip", "pages-toolchain-1.2.3.tgz",
		"pages-toolchain-darwin-arm64-1.2.3.tgz",
		"pages-toolchain-darwin-x64-1.2.3.tgz", "pages-toolchain-linux-arm64-1.2.3.tgz",
		"pages-toolchain-linux-x64-1.2.3.tgz", "pages-toolchain-win32-arm64-1.2.3.tgz",
		"pages-toolchain-win32-x64-1.2.3.tgz", "pages_1.2.3_amd64.deb", "pages_1.2.3_arm64.deb",
	}
	if !slices.Equal(a.written, want) {
		t.Errorf("written %q\nwant %q", a.written, want)
	}
	for _, name := range append(a.written, "SHA256SUMS") {
		one, err := os.ReadFile(filepath.Join(a.out, name))
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(b.out, name))
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: other bytes a second time (%v)", name, err)
		}
	}
	check := exec.Command("sha256sum", "--check", "--quiet", "SHA256SUMS")
	check.Dir = a.out
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// unpacked returns the contents of a tar.gz: name to mode and size.
func unpacked(t *testing.T, text []byte) map[string]string {
	t.Helper()
	squeezed, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for r := tar.NewReader(squeezed); ; {
		h, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list[h.Name] = fmt.Sprintf("%o %d", h.Mode, h.Size)
	}
}

// TestDebian reads the package as dpkg does.
func TestDebian(t *testing.T) {
	r := packed(t, []byte("program"), platform{"linux", "amd64"})
	text, err := os.ReadFile(filepath.Join(r.out, "pages_1.2.3_amd64.deb"))
	if err != nil {
		t.Fatal(err)
	}
	rest, ok := bytes.CutPrefix(text, []byte("!<arch>\n"))
	if !ok {
		t.Fatal("it is not an ar archive")
	}
	var names []string
	parts := map[string][]byte{}
	for len(rest) > 0 {
		var size int
		if _, err := fmt.Sscanf(string(rest[48:58]), "%d", &size); err != nil || string(rest[58:60]) != "`\n" {
			t.Fatalf("a head of %q", rest[:60])
		}
		name := strings.TrimSpace(string(rest[:16]))
		names = append(names, name)
		parts[name] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	if want := []string{"debian-binary", "control.tar.gz", "data.tar.gz"}; !slices.Equal(names, want) {
		t.Errorf("parts %q", names)
	}
	data := unpacked(t, parts["data.tar.gz"])
	if data["./usr/bin/pages"] != "755 7" || data["./usr/share/man/man1/pages.1.gz"] == "" ||
		data["./usr/share/zsh/vendor-completions/_pages"] == "" || data["./usr/bin/"] != "755 0" ||
		data["./usr/share/doc/pages/NOTICES"] != "644 7" {
		t.Errorf("files %v", data)
	}
	if control := unpacked(t, parts["control.tar.gz"]); control["./control"] == "" || control["./md5sums"] == "" {
		t.Errorf("control %v", control)
	}
}

// TestNPM installs the packages without a network, and runs the program by its launcher.
func TestNPM(t *testing.T) {
	here := platform{runtime.GOOS, runtime.GOARCH}
	r := packed(t, []byte("#!/bin/sh\necho \"ran $*\"\nexit 7\n"), here)
	site := t.TempDir()
	if err := os.WriteFile(filepath.Join(site, "package.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, os, cpu := npmName(here)
	npm := exec.Command("npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", "--cache", t.TempDir(),
		filepath.Join(r.out, "pages-toolchain-1.2.3.tgz"), filepath.Join(r.out, "pages-toolchain-"+os+"-"+cpu+"-1.2.3.tgz"))
	npm.Dir = site
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(filepath.Join(site, "node_modules", ".bin", "pages"), "dev", "a b")
	out, _ := run.Output()
	if string(out) != "ran dev a b\n" || run.ProcessState.ExitCode() != 7 {
		t.Errorf("%q, exit code %d", out, run.ProcessState.ExitCode())
	}
}

// TestMaterials: the bill names the modules of a program and the packages of the artifacts, each once.
func TestMaterials(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	r := &release{version: "1.2.3", out: t.TempDir()}
	if err := r.materials(program); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.out, "pages-1.2.3.spdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc spdxDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, p := range doc.Packages {
		if ids[p.ID] || p.Version == "" {
			t.Errorf("%s twice, or without a version", p.ID)
		}
		ids[p.ID] = true
	}
	if !ids["SPDXRef-quickjs-wasi-3.6.2"] || !ids[rootID] || len(doc.Relationships) != len(doc.Packages) {
		t.Errorf("%d packages, %d relationships", len(doc.Packages), len(doc.Relationships))
	}
}

// TestRecipe follows the container recipe, with cp for COPY and a folder for the base image: the image has the program at the path of its
// entry point, certificates, and folders that any user may write to.
func TestRecipe(t *testing.T) {
	r := packed(t, []byte("program"), platform{"linux", "amd64"}, platform{"linux", "arm64"})
	text, err := os.ReadFile(filepath.Join(r.out, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	recipe := strings.ReplaceAll(string(text), "\\\n", "")
	for _, arch := range []string{"amd64", "arm64"} {
		base := t.TempDir()
		if err := os.MkdirAll(filepath.Join(base, "etc", "ssl", "certs"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, "etc", "ssl", "certs", "ca-certificates.crt"), []byte("roots"), 0o644); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(strings.ReplaceAll(recipe, "${TARGETARCH}", arch), "\n") {
			instruction, rest, _ := strings.Cut(line, " ")
			var cmd *exec.Cmd
			switch instruction {
			case "ADD":
				cmd = exec.Command("tar", "-xzf", filepath.Join(r.out, strings.Fields(rest)[0]), "-C", base)
			case "RUN":
				cmd = exec.Command("sh", "-ec", strings.ReplaceAll(rest, " /", " "+base+"/"))
			default:
				continue
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
		}
		image := filepath.Join(base, "image")
		for name, want := range map[string]os.FileMode{
			"usr/bin/pages": 0o755, "usr/share/doc/pages/NOTICES": 0o644, "etc/ssl/certs/ca-certificates.crt": 0o644,
			"tmp": os.ModeDir | os.ModeSticky | 0o777, "site": os.ModeDir | os.ModeSticky | 0o777,
		} {
			t.Run(name, func(t *testing.T) {
				info, err := os.Stat(filepath.Join(image, filepath.FromSlash(name)))
				if err != nil {
					t.Errorf("%s: %v", arch, err)
				} else if info.Mode() != want {
					t.Errorf("%s: %s: %v, want %v", arch, name, info.Mode(), want)
				}
			})
		}
	}
	for _, line := range []string{
		"COPY --from=unpacked /image /", "USER 65532:65532", "ENV HOME=/tmp", "WORKDIR /site",
		`ENTRYPOINT ["/usr/bin/pages"]`,
	} {
		if !strings.Contains(recipe, "\n"+line+"\n") {
			t.Errorf("the recipe lacks %q", line)
		}
	}
}
