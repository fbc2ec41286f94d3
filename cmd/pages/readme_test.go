package main

import (
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/manual"
)

// readme holds the commands that the README tells its reader to type.
type readme struct {
	blocks map[string][]string // the fenced ones, by language
	spans  []span
}

// span is a piece of code in a sentence or a table of the README.
type span struct {
	line int
	row  string // the command whose row of a table has it; "" elsewhere
	text string
}

func readReadme(t *testing.T) *readme {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := &readme{blocks: map[string][]string{}}
	code := regexp.MustCompile("`([^`]+)`")
	language, fenced := "", false
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		after, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence:
			if fenced = !fenced; fenced {
				language = after
				r.blocks[language] = append(r.blocks[language], "")
			}
		case fenced:
			r.blocks[language][len(r.blocks[language])-1] += strings.TrimSpace(line) + "\n"
		default:
			row := ""
			for i, m := range code.FindAllStringSubmatch(line, -1) {
				s := span{n, row, strings.ReplaceAll(m[1], `\|`, "|")}
				if i == 0 && strings.HasPrefix(line, "| `pages ") {
					row = s.text
				}
				r.spans = append(r.spans, s)
			}
		}
	}
	return r
}

// commandIn returns the command at the beginning of a text, "pages routes explain" of "pages routes explain GET /path", and the rest of the
// text.
func commandIn(text string) (cmd *cobra.Command, rest string) {
	cmd = (&cli{}).newRoot()
	cmd.InitDefaultCompletionCmd() // cobra adds them late
	words := strings.Fields(text)[1:]
	for len(words) > 0 && manual.FindCommand(cmd, words[:1]) != nil {
		cmd, words = manual.FindCommand(cmd, words[:1]), words[1:]
	}
	return cmd, strings.Join(words, " ")
}

// isForm reports whether a command of the README is a form: one of its words stands for the reader's value, such as NAME or COMMAND.
func isForm(text string) bool {
	return regexp.MustCompile(`[[|…]|/path|\b[A-Z]{2,}\b`).MatchString(text)
}

// commands returns all commands in the README: whole ones, and the forms of its table.
func (r *readme) commands() (list []span) {
	for _, s := range r.spans {
		word, _, _ := strings.Cut(s.text, " ")
		switch {
		case slices.Contains([]string{"pages", "bin/pages", "make", "curl", "npm"}, word):
			list = append(list, s)
		case s.row != "" && regexp.MustCompile(`^[a-z]+$`).MatchString(word):
			// Another command in the row of a command: a subcommand, one of the same group, or one of `pages`.
			above, _ := commandIn(s.row)
			for above.HasParent() && manual.FindCommand(above, []string{word}) == nil {
				above = above.Parent()
			}
			list = append(list, span{s.line, s.row, above.CommandPath() + " " + s.text})
		}
	}
	return list
}

// TestReadmeCommands: a test runs each command in the README. TestReadmeJourney and TestWorkflow run its blocks; a script of
// testdata/script must run each command in its text or its tables: a whole one unchanged, a form such as `pages db query SQL` by its words
// and flags.
func TestReadmeCommands(t *testing.T) {
	r := readReadme(t)
	var run strings.Builder // the commands of the scripts, one a line
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, command, ok := strings.Cut(line, "exec pages "); ok {
				run.WriteString("pages " + strings.TrimSpace(command) + " \n")
			}
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Join(r.blocks["yaml"], "") + strings.Join(r.blocks["sh"], "") // run whole
	commands := r.commands()
	if len(commands) < 60 {
		t.Errorf("only %d commands were found", len(commands))
	}
	for _, s := range commands {
		target, isMake := strings.CutPrefix(s.text, "make ")
		switch {
		case isMake:
			if !strings.Contains(string(makefile), "\n"+target+":") {
				t.Errorf("README.md:%d: %s: the Makefile has no such target", s.line, s.text)
			}
		case strings.Contains(blocks, s.text), s.text == readmeGate, s.text == readmeMany:
		case isForm(s.text):
			cmd, rest := commandIn(s.text)
			if !cmd.HasParent() {
				t.Errorf("README.md:%d: %s: there is no such command", s.line, s.text)
			}
			if !regexp.MustCompile(`(?m)^` + cmd.CommandPath() + ` ` + flagsIn(rest)).MatchString(run.String()) {
				t.Errorf("README.md:%d: %s: no script runs it", s.line, s.text)
			}
		default:
			if !strings.Contains("\n"+run.String(), "\n"+s.text+" ") {
				t.Errorf("README.md:%d: %s: no script runs it as it stands there", s.line, s.text)
			}
		}
	}
}

// Commands in the text of the README, which TestReadmeJourney and TestWorkflow run.
const (
	readmeGate = "curl -i http://127.0.0.1:8788/minutes/"
	readmeMany = "pages validate sites/*"
)

// flagsIn is a pattern of a line with the flags of a form.
func flagsIn(form string) (pattern string) {
	for word := range strings.FieldsSeq(form) {
		if strings.HasPrefix(word, "--") {
			pattern += ".*" + word
		}
	}
	return pattern
}

// TestReadmeFlags: the flags and the exit codes in the README exist, those of a row in its command.
func TestReadmeFlags(t *testing.T) {
	var tested strings.Builder
	flagsOf := map[string]string{} // and of all its subcommands
	everyCommand(func(cmd *cobra.Command) {
		usage := cmd.LocalFlags().FlagUsages() + cmd.InheritedFlags().FlagUsages()
		for c := cmd; c != nil; c = c.Parent() {
			flagsOf[c.CommandPath()] += usage
		}
	})
	for _, pattern := range []string{"*_test.go", filepath.Join(scripts, "*.txtar")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if file != "readme_test.go" {
				tested.Write(text)
			}
		}
	}
	for _, s := range readReadme(t).spans {
		for name := range strings.SplitSeq(s.text, "/") {
			name, _, _ = strings.Cut(name, " ")
			if !regexp.MustCompile(`^--?[a-zA-Z][a-z-]*$`).MatchString(name) {
				continue
			}
			has := regexp.MustCompile(`(?m)(^ +|, )` + name + `\b`)
			of := "pages"
			if s.row != "" {
				cmd, _ := commandIn(s.row)
				of = cmd.CommandPath()
			}
			if !has.MatchString(flagsOf[of]) {
				t.Errorf("README.md:%d: %s: there is no such flag of %s", s.line, name, of)
			}
			if !regexp.MustCompile(regexp.QuoteMeta(name) + `\b`).MatchString(tested.String()) {
				t.Errorf("README.md:%d: %s: no test gives it", s.line, name)
			}
		}
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var codes, known []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([\d, ]+) \|`).FindAllStringSubmatch(string(text), -1) {
		codes = append(codes, strings.Split(m[1], ", ")...)
	}
	for _, e := range manual.ExitMeanings {
		known = append(known, fmt.Sprint(e.Code))
	}
	if !slices.Equal(codes, known) {
		t.Errorf("the README has the exit codes %v, pages help exit-codes %v", codes, known)
	}
}

// TestWorkflow runs the steps of the README's workflow as a runner does: in a checkout, with bash, one by one. A good site passes, a bad
// one ends at the first step with an annotation and a summary.
func TestWorkflow(t *testing.T) {
	var commands []string
	for line := range strings.Lines(strings.Join(readReadme(t).blocks["yaml"], "")) {
		// Its other steps fetch tools that this machine has already.
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "- run: pages "); ok {
			commands = append(commands, "pages "+command)
		}
	}
	if len(commands) != 2 {
		t.Fatalf("the README's workflow has the steps %q", commands)
	}
	program := program(t)
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
	many := t.TempDir()
	for _, name := range []string{"one", "two"} {
		if err := copyTo(filepath.Join(many, "sites", name), "static"); err != nil {
			t.Fatal(err)
		}
	}
	if out, _, ok := step(many, readmeMany); !ok || !strings.Contains(out, "sites/two") {
		t.Errorf("%s: %s", readmeMany, out)
	}
	bad := copyExample(t, "broken/unknown-key")
	out, summary, ok := step(bad, commands[0])
	if ok || !strings.Contains(out, "::error file=pages.deploy.json,line=3,") ||
		!strings.Contains(summary, "| error | `pages.deploy.json:3:30` |") {
		t.Errorf("%s on a bad site: %v\n%s\n%s", commands[0], ok, out, summary)
	}
}

// TestReadmePictures: the pictures of README.md exist, and are pictures.
func TestReadmePictures(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	pictures := regexp.MustCompile(`!\[[^\]]+\]\(([^)]+)\)`).FindAllStringSubmatch(string(text), -1)
	if len(pictures) < 2 {
		t.Fatalf("%d pictures: there is one of the dashboard and one of the terminal", len(pictures))
	}
	for _, p := range pictures {
		f, err := os.Open(filepath.Join("..", "..", filepath.FromSlash(p[1])))
		if err != nil {
			t.Error(err)
			continue
		}
		defer f.Close()
		if c, err := png.DecodeConfig(f); err != nil || c.Width < 1000 {
			t.Errorf("%s: %v, %d wide", p[1], err, c.Width)
		}
	}
}
