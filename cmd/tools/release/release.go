package main

import (
	"os"
	"path/filepath"
	"time"
)

// release is one release.
type release struct {
	version string
	commit  string
	time    time.Time // on every file
	out     string
	written []string // names of what was written, in out
}

// platform is a system that binaries are built for.
type platform struct{ os, arch string }

func platforms() []platform {
	return []platform{
		{"linux", "amd64"},
		{"linux", "arm64"},
		{"darwin", "amd64"},
		{"darwin", "arm64"},
		{"windows", "amd64"},
		{"windows", "arm64"},
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
