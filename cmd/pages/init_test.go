package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/scaffold"
	"github.com/pages-toolchain/pages/manifest/starter"
)

// TestTemplatesWork takes each template through its workflow: it validates without a warning, its types match its code, it builds, its own
// tests pass, and pages dev serves it.
func TestTemplatesWork(t *testing.T) {
	program := program(t)
	installed, err := filepath.Abs(filepath.Join(sites, "riverside", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := filepath.Abs(filepath.Join(sites, "types", "node_modules", "typescript", "bin", "tsc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, template := range starter.Templates() {
		t.Run(template.Name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "My Club")
			var made scaffold.Document
			runJSON(t, &made, "init", "--template", template.Name, dir, "--json")
			if !made.OK || made.Template != template.Name || len(made.Notes) > 0 {
				t.Fatalf("%+v", made)
			}
			if err := os.Symlink(installed, filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			commands := []string{"pages validate --fail-on warning"}
			if _, err := os.Stat(filepath.Join(dir, "tsconfig.json")); err == nil {
				commands = append(commands, "node "+compiler+" --project .")
			}
			commands = append(commands, workflowSteps(t, filepath.Join(dir, ".github", "workflows", "pages.yml"))...)
			for _, command := range commands {
				cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", command, err, out)
				}
			}
			worker := filepath.Join(dir, "src", "worker.ts")
			code, err := os.ReadFile(worker)
			if err == nil {
				boom := `app.get("/api/boom", (c) => c.text((c.env as any).SESSIONS.get("x")));` + "\n\nexport default"
				code = []byte(strings.Replace(string(code), "export default", boom, 1))
				if err := os.WriteFile(worker, code, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d := startDev(t, dir)
			if code != nil { // the platform gets the errors, and has a page about them
				d.expect(d.get("/api/boom"), 500, "src/worker.ts:")
			}
			d.expect(d.get("/"), 200, "<title>my-club</title>")
			d.expect(d.get("/css/site.css"), 200, ":root")
			d.expect(d.get("/none"), 404, "There is no such page")
		})
	}
}

// workflowSteps are the commands of a workflow that are ours: packages are there already.
func workflowSteps(t *testing.T, file string) (steps []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "- run: pages "); ok {
			steps = append(steps, "pages "+command)
		}
	}
	if len(steps) < 3 {
		t.Errorf("%s has the steps %q", file, steps)
	}
	return steps
}
