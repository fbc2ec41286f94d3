package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workflowCommands are the `pages` steps of the GitHub workflow in the README;
// its other steps fetch what this machine has already.
func workflowCommands(t *testing.T) (list []string) {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, workflow, _ := strings.Cut(string(readme), "```yaml\n")
	workflow, _, _ = strings.Cut(workflow, "```")
	for line := range strings.Lines(workflow) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "- run: "); ok && strings.HasPrefix(command, "pages ") {
			list = append(list, command)
		}
	}
	return list
}

// TestWorkflow runs the steps of the README's workflow as a runner does: in a
// checkout, with bash, each by itself. A good site passes, a bad one ends at the
// first step with an annotation and a summary.
func TestWorkflow(t *testing.T) {
	commands := workflowCommands(t)
	if len(commands) != 2 {
		t.Fatalf("the README's workflow has the steps %q", commands)
	}
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	step := func(dir, command string) (out, summary string, ok bool) {
		file := filepath.Join(t.TempDir(), "summary.md")
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CI=true", "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY="+file,
			"PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
		text, err := cmd.CombinedOutput()
		table, _ := os.ReadFile(file) // not every step writes one
		return string(text), string(table), err == nil
	}
	good := copyExample(t, "static")
	for _, command := range commands {
		if out, _, ok := step(good, command); !ok {
			t.Errorf("%s on a good site: %s", command, out)
		}
	}
	bad := copyExample(t, "broken/unknown-key")
	out, summary, ok := step(bad, commands[0])
	if ok || !strings.Contains(out, "::error file=pages.deploy.json,line=3,") || !strings.Contains(summary, "| error | `pages.deploy.json:3:30` |") {
		t.Errorf("%s on a bad site: %v\n%s\n%s", commands[0], ok, out, summary)
	}
}
