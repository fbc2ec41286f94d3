package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// This file says on what machine, and with which versions, figures came about.

// fact is one line about the machine or a tool.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// facts are the machine's, and the versions of all that is compared.
func (b *bench) facts(ctx context.Context) []fact {
	all := []fact{
		{"machine", fmt.Sprintf("%s/%s, %d processors (%s), %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(), memory())},
		{"kernel", b.firstLine(ctx, "uname", "-sr")},
		{"load", fmt.Sprintf("%.2f at the start", b.busy)},
		{"pages", b.firstLine(ctx, b.pages, "version") + ", commit " + b.firstLine(ctx, "git", "describe", "--always", "--dirty")},
		{"Go", runtime.Version()},
		{"load generator", b.load.name()},
	}
	if command, err := b.wranglerCommand(ctx); err == nil {
		modules := filepath.Dir(filepath.Dir(filepath.Dir(command[1])))
		all = append(
			all, fact{"Node.js", b.firstLine(ctx, command[0], "--version")},
			fact{"wrangler", packageVersion(filepath.Join(modules, "wrangler"))},
			fact{"workerd", packageVersion(filepath.Join(modules, "workerd"))},
		)
	} else {
		all = append(all, fact{"wrangler, workerd", "not measured: " + err.Error()})
	}
	return append(all,
		fact{"caddy", b.firstLine(ctx, orElse(b.caddy, "caddy"), "version")},
		fact{"Chromium", b.firstLine(ctx, b.browserProgram(), "--version")},
		fact{"jq", b.firstLine(ctx, orElse(b.jq, "jq"), "--version")},
		fact{"ajv", packageVersion(filepath.Join(b.ajv, "ajv"))},
		fact{"sqlite3", b.firstLine(ctx, "sqlite3", "--version")},
		fact{"sha256sum", b.firstLine(ctx, "sha256sum", "--version")},
	)
}

// absentTool stands for the version of what is not there.
const absentTool = "absent"

// firstLine is the first line that a program prints.
func (b *bench) firstLine(ctx context.Context, program string, args ...string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return absentTool
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = b.environ
	out, err := cmd.Output()
	if err != nil {
		return absentTool
	}
	return firstLine(strings.TrimSpace(string(out)))
}

// packageVersion is the version of an npm package in its folder.
func packageVersion(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	var p struct{ Version string }
	if err != nil || json.Unmarshal(text, &p) != nil || p.Version == "" {
		return absentTool
	}
	return p.Version
}

// processor is the name of the machine's processor.
func processor() string { return procField("/proc/cpuinfo", "model name", runtime.GOARCH) }

// memory is how much the machine has.
func memory() string {
	size := kibibytes(procField("/proc/meminfo", "MemTotal", ""))
	if size == 0 {
		return "memory unknown"
	}
	return fmt.Sprintf("%.1f GB of memory", float64(size)/1e9)
}
