package starter_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/starter"
)

// TestWorkflowBuildsPages runs the step that builds the command, with a repository on this machine in the place of the
// one that is published: the commit that is asked for is built, and the newest where that one is not there.
func TestWorkflowBuildsPages(t *testing.T) {
	source := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", source, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	commit := func(text string) string {
		if err := os.WriteFile(
			filepath.Join(source, "Makefile"), []byte("build:\n\tmkdir bin\n\techo "+text+" > bin/pages\n"), 0o644,
		); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "--quiet", "-m", text)
		return git("rev-parse", "HEAD")
	}
	first := commit("first")
	commit("second")
	for _, c := range []struct{ commit, want, said string }{
		{"", "second", ""},
		{first, "first", ""},
		{
			strings.Repeat("0", 39) + "1", "second",
			"::warning::pages " + strings.Repeat("0", 39) + "1 is not published: the newest is built",
		},
	} {
		t.Run("commit "+c.commit, func(t *testing.T) {
			temp := t.TempDir()
			step := exec.Command("sh", "-ec", builds(t, starter.Workflow{Commit: c.commit}))
			step.Dir = temp
			step.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_PATH="+filepath.Join(temp, "path"),
				"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+source+".insteadOf",
				"GIT_CONFIG_VALUE_0=https://github.com/pages-toolchain/pages")
			out, err := step.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			built, err := os.ReadFile(filepath.Join(temp, "pages", "bin", "pages"))
			if err != nil || strings.TrimSpace(string(built)) != c.want || !strings.Contains(string(out), c.said) {
				t.Errorf("commit %q: %q is built, want %s (%v)\n%s", c.commit, built, c.want, err, out)
			}
			if path, err := os.ReadFile(filepath.Join(temp, "path")); err != nil || string(path) != temp+"/pages/bin\n" {
				t.Errorf("the path is %q (%v)", path, err)
			}
		})
	}
}

// builds is the script of the step that builds the command.
func builds(t *testing.T, w starter.Workflow) string {
	t.Helper()
	_, rest, found := strings.Cut(string(w.Text()), "- name: Build the pages command\n        run: |\n")
	script, _, ends := strings.Cut(rest, "      - run:")
	if !found || !ends {
		t.Fatalf("no such step in\n%s", w.Text())
	}
	return script
}
