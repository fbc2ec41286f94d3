package starter_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/starter"
)

// TestWorkflowGetsPages runs the step that gets the command, with a server and a repository on this machine in place of the public ones.
// The step takes a release that exists and whose bytes match; otherwise it builds the requested commit, or the newest one if that commit
// does not exist.
func TestWorkflowGetsPages(t *testing.T) {
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
	releases := releaseServer(t)
	nowhere := strings.Repeat("0", 39) + "1"
	for _, c := range []struct {
		name, version, commit string
		want, said            string // want is "" if the step must fail
	}{
		{"the newest", "", "", "second", ""},
		{"a commit", "", first, "first", ""},
		{"a commit that is not there", "", nowhere, "second", "::warning::pages " + nowhere + " is not published: building the newest"},
		{"a release", "1.2.3", first, "released", ""},
		{"no such release", "9.9.9", first, "first", "::warning::pages 9.9.9 cannot be fetched: it is built from its source"},
		{"a release whose bytes are wrong", "6.6.6", first, "", "FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			temp := t.TempDir()
			script := getsPages(t, starter.Workflow{Version: c.version, Commit: c.commit})
			script = strings.ReplaceAll(script, "https://github.com/pages-toolchain/pages/releases", releases+"/releases")
			step := exec.Command("bash", "-ec", script)
			step.Dir = temp
			step.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "HOME="+temp, "NO_PROXY=*",
				"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+source+".insteadOf",
				"GIT_CONFIG_VALUE_0=https://github.com/pages-toolchain/pages")
			out, err := step.CombinedOutput()
			if (err == nil) != (c.want != "") || !strings.Contains(string(out), c.said) {
				t.Fatalf("%v\n%s", err, out)
			}
			got, _ := os.ReadFile(filepath.Join(temp, ".pages-command", "pages")) // absent if the step fails
			if strings.TrimSpace(string(got)) != c.want {
				t.Errorf("%q is there, want %q\n%s", got, c.want, out)
			}
		})
	}
}

// releaseServer serves the releases 1.2.3, and 6.6.6 whose archive is not the one of its list.
func releaseServer(t *testing.T) string {
	t.Helper()
	system := strings.NewReplacer("x86_64", "amd64", "aarch64", "arm64").Replace(output(t, "uname", "-m"))
	files := map[string][]byte{}
	for _, version := range []string{"1.2.3", "6.6.6"} {
		name := "pages-" + version + "-linux-" + system
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o755),
			os.WriteFile(filepath.Join(dir, name, "pages"), []byte("released\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
		archive := []byte(output(t, "tar", "-cz", "-C", dir, name))
		sum := sha256.Sum256(archive)
		if version == "6.6.6" {
			archive = append(archive, 0)
		}
		base := "/releases/download/v" + version + "/"
		files[base+name+".tar.gz"] = archive
		files[base+"SHA256SUMS"] = fmt.Appendf(nil, "%x  %s.tar.gz\n%064x  other.zip\n", sum, name, 1)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// getsPages is the script of the step that gets the command, which is the same in every job.
func getsPages(t *testing.T, w starter.Workflow) string {
	t.Helper()
	const begins = "- name: Get the pages command\n        if: steps.pages.outputs.cache-hit != 'true'\n        run: |\n"
	parts := strings.Split(string(w.Text()), begins)
	if len(parts) != 4 {
		t.Fatalf("not three jobs with such a step in\n%s", w.Text())
	}
	script, _, _ := strings.Cut(parts[1], "      - run:")
	for _, other := range parts[2:] {
		if !strings.HasPrefix(other, script) {
			t.Errorf("the jobs get the command by different scripts:\n%s", w.Text())
		}
	}
	return script
}

// TestWorkflowKeepsKeys: the key is in reach of no fork, and of no job that runs a fork's code.
func TestWorkflowKeepsKeys(t *testing.T) {
	text := string(starter.Workflow{Packages: true, Tests: true}.Text())
	if strings.Contains(text, "\n  pull_request_target") {
		t.Error("it runs on pull_request_target")
	}
	_, jobs, _ := strings.Cut(text, "\njobs:\n")
	for _, job := range strings.Split(jobs, "\n    runs-on:")[1:] {
		condition := jobs[:strings.Index(jobs, job)]
		condition = condition[strings.LastIndex(condition, "    if: "):]
		if keyed := strings.Contains(job, "secrets."); keyed != strings.Contains(condition, "head.repo.full_name == github.repository") {
			t.Errorf("the condition %q of a job with a key %v:\n%s", condition, keyed, job)
		}
	}
	if strings.Count(text, "secrets.") != 2 ||
		strings.Count(text, "persist-credentials: false") != strings.Count(text, "actions/checkout") {
		t.Errorf("%s", text)
	}
}

// TestWorkflowShowsNoLiveData: all who read the comment on a pull request can open its preview, so that it begins without the
// live rows, and opens no path that is for members.
func TestWorkflowShowsNoLiveData(t *testing.T) {
	text := string(starter.Workflow{Packages: true}.Text())
	_, command, found := strings.Cut(text, "run: pages deploy --preview ")
	command, _, _ = strings.Cut(command, "\n")
	if !found || !strings.Contains(command, "--data empty") || strings.Contains(command, "--allow-public") {
		t.Errorf("%q", command)
	}
}
