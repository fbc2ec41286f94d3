package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// workerdSide is workerd itself, which wrangler brings along, with the Worker as
// wrangler bundles it.
func (b *bench) workerdSide(ctx context.Context, wrangler *side) (*side, error) {
	command := wrangler.command("0")
	modules := filepath.Dir(filepath.Dir(filepath.Dir(command[1])))
	found, err := filepath.Glob(filepath.Join(modules, "@cloudflare", "workerd-*", "bin", "workerd*"))
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("there is none in %s", modules)
	}
	build := exec.CommandContext(ctx, command[0], command[1], "deploy", "--dry-run", "--outdir", "dist")
	build.Dir, build.Env = wrangler.site, wrangler.environment(b.environ, wrangler.home)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("wrangler deploy --dry-run: %w: %.500s", err, out)
	}
	version, err := exec.CommandContext(ctx, found[0], "--version").Output()
	if err != nil {
		return nil, err
	}
	date := strings.TrimSpace(strings.TrimPrefix(string(version), "workerd"))
	s := *wrangler
	s.name = workerd
	s.command = func(port string) []string {
		config := filepath.Join(wrangler.site, "workerd.capnp")
		text := fmt.Sprintf(workerdConfig, port, date)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			b.say("workerd: %v", err)
		}
		return []string{found[0], "serve", config}
	}
	return &s, nil
}

// workerdConfig takes the port and the compatibility date.
const workerdConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:%s", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "dist/index.js")],
  compatibilityDate = "%s",
);
`
