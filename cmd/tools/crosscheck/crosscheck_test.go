package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	files := map[string]string{
		"go.mod":            "module example.org/m\n\ngo 1.26\n",
		"m.go":              "package m\n\nfunc Size() int { return wide }\n",
		"m_linux.go":        "package m\n\nconst wide = 1 << 40\n",
		"m_darwin.go":       "package m\n\nconst wide = 1 << 20\n",
		"m_windows.go":      "package m\n\nimport \"syscall\"\n\nvar wide = syscall.Stat_t{}\n",
		"m_darwin_test.go":  "package m\n\nvar _ string = wide\n",
		"sub/broken_386.go": "package sub\n\nfunc f() {\n",
		"sub/sub.go":        "package sub\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for platform, want := range map[string][]string{
		"linux/amd64":   nil,
		"linux/386":     {"m.go:3:26: cannot use wide", "broken_386.go:3:12: expected"},
		"darwin/arm64":  {"m_darwin_test.go:3:16: cannot use wide"},
		"windows/amd64": {"m_windows.go:5:20: undefined: syscall.Stat_t"},
		"windows":       {"pass a platform such as linux/arm64"},
		"beos/amd64":    {"unsupported GOOS/GOARCH pair beos/amd64"},
	} {
		t.Run(strings.ReplaceAll(platform, "/", "-"), func(t *testing.T) {
			_, err := check(dir, platform)
			if want == nil && err != nil {
				t.Error(err)
			}
			for _, part := range want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v, and not %q", err, part)
				}
			}
		})
	}
}
