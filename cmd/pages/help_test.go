package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/manual"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// everyCommand visits the commands that people can call, topics not among them.
func everyCommand(visit func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Runnable() {
			visit(cmd)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&cli{}).newRoot())
}

// TestHelp: the help of each command is complete, and the word after a flag names its value,
// not its type.
func TestHelp(t *testing.T) {
	word := regexp.MustCompile(`^([A-Z]{3,}|N|ID|HOST\[:PORT\])?$`)
	kinds := []string{"STRING", "STRINGS", "INT", "UINT", "FLOAT", "VALUE"}
	n := 0
	everyCommand(func(cmd *cobra.Command) {
		n++
		path := cmd.CommandPath()
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || strings.ToUpper(cmd.Short[:1]) != cmd.Short[:1] {
			t.Errorf("%s: its purpose in one line is %q", path, cmd.Short)
		}
		if !strings.Contains(cmd.Long, "Exit codes: ") {
			t.Errorf("%s: no exit codes", path)
		}
		if codes, own := exitCodesOf(cmd); own && !slices.Contains(codes, strconv.Itoa(failure.ExitUsage)) {
			t.Errorf("%s: which exit code has wrong usage?", path)
		}
		if !strings.HasPrefix(cmd.Example, "  ") {
			t.Errorf("%s: no examples, or not indented: %q", path, cmd.Example)
		}
		if strings.Contains(cmd.Example, "&&") {
			t.Errorf("%s: an example joins commands as PowerShell 5.1 does not: %q", path, cmd.Example)
		}
		for line := range strings.Lines(cmd.Long) {
			if len([]rune(line)) > 100 {
				t.Errorf("%s: a line of %d characters: %s", path, len([]rune(line)), line)
			}
		}
		if cmd.HasParent() && !cmd.Parent().HasParent() && cmd.GroupID == "" && !cmd.Hidden {
			t.Errorf("%s: in no group", path)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s: no description", path, f.Name)
			}
			if value, _ := manual.FlagText(f); !word.MatchString(value) || slices.Contains(kinds, value) && f.Name != "param" {
				t.Errorf("%s --%s: what it takes is called %q", path, f.Name, value)
			}
		})
	})
	if n < 30 {
		t.Errorf("only %d commands were seen", n)
	}
}

// TestHelpPages: every page of help/ belongs to a command.
func TestHelpPages(t *testing.T) {
	commands := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		_, path, _ := strings.Cut(cmd.CommandPath(), " ")
		commands[strings.ReplaceAll(path, " ", "_")+".txt"] = true
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&cli{}).newRoot())
	pages, err := helpPages.ReadDir("help")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !commands[page.Name()] {
			t.Errorf("help/%s is of no command", page.Name())
		}
	}
}

// exitCodesOf returns the exit codes in a command's help; a command that only groups subcommands has none.
func exitCodesOf(cmd *cobra.Command) (codes []string, own bool) {
	_, text, _ := strings.Cut(cmd.Long, "Exit codes: ")
	return regexp.MustCompile(`\b\d+\b`).FindAllString(text, -1), !strings.HasPrefix(text, "those of its commands")
}

// TestHelpOfFailures: the help of a command names its exit code in a folder without a site.
func TestHelpOfFailures(t *testing.T) {
	named := map[string][]string{}
	everyCommand(func(cmd *cobra.Command) { named[cmd.CommandPath()], _ = exitCodesOf(cmd) })
	checkout := t.TempDir()
	put(t, filepath.Join(checkout, ".git", "HEAD"), "")
	for _, command := range []string{
		"build", "dev", "dev status", "dev stop", "dev logs", "types", "validate", "routes", "routes explain /", "logs",
		"events list", "events tail", "leads list",
		"leads show x", "leads replay x", "leads spam x", "leads ham x",
		"leads files x", "leads export csv", "db query x", "db exec x", "db dump", "db shell", "migrate", "migrate new x", "migrate plan",
		"migrate status",
		"migrate rehearse", "migrate schema", "migrate squash --up-to x", "migrate repair --accept x", "migrate undo", "migrate reset",
		"state save x", "state load x",
		"state list", "state remove x", "state reset", "state seed", "deploy", "revisions", "preview", "rollback", "secrets list",
		"whoami", "tools list", "mcp", "login", "logout",
	} {
		t.Run(command, func(t *testing.T) {
			e := terminal.Terminal{
				Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Dir: checkout,
				ConfigDir: t.TempDir(), Now: time.Now,
			}
			args := strings.Fields(command)
			path := "pages " + args[0]
			if len(args) > 1 && named[path+" "+args[1]] != nil {
				path += " " + args[1]
			}
			if code := run(t.Context(), args, e); code == 0 || !slices.Contains(named[path], strconv.Itoa(code)) {
				t.Errorf("pages %s ends with %d where there is no site, and its help says %v", command, code, named[path])
			}
		})
	}
}

// TestTopics: each topic fits on a screen, and its commands and flags exist.
func TestTopics(t *testing.T) {
	named := regexp.MustCompile(`(?m)(?:^  |; |, |\b)pages ([a-z]+(?: [^\n]*)?)`)
	flag := regexp.MustCompile(`--[a-z][a-z-]+`)
	for _, topic := range manual.RoomTopics() {
		if n := strings.Count(topic.Text, "\n"); n > 24 {
			t.Errorf("%s has %d lines", topic.Name, n)
		}
		for line := range strings.Lines(topic.Text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 90 {
				t.Errorf("%s: a line of %d characters: %s", topic.Name, n, line)
			}
			m, _, _ := strings.Cut(named.FindString(line), " -- ")
			if m == "" {
				continue
			}
			cmd, rest := commandIn(strings.TrimLeft(m, " ;,"))
			if word, _, _ := strings.Cut(rest, " "); !cmd.HasParent() && word != "help" || cmd.HasSubCommands() && !cmd.Runnable() {
				t.Errorf("%s: there is no such command: %s", topic.Name, m)
			}
			for _, name := range flag.FindAllString(m, -1) {
				if cmd.HasParent() && cmd.Flag(strings.TrimPrefix(name, "--")) == nil {
					t.Errorf("%s: %s has no flag %s", topic.Name, cmd.CommandPath(), name)
				}
			}
		}
	}
}

// TestExitCodes: every code is explained, and the help of each command agrees.
func TestExitCodes(t *testing.T) {
	known := map[string]bool{}
	for _, e := range manual.ExitMeanings {
		known[strconv.Itoa(e.Code)] = true
	}
	source, err := os.ReadFile("../internal/failure/failure.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\tExit[A-Z]\w+ += (\d+)`).FindAllStringSubmatch(string(source), -1) {
		if !known[m[1]] {
			t.Errorf("pages help exit-codes lacks %s", m[1])
		}
	}
	number := regexp.MustCompile(`(?:^|[,;] |or |\n)(\d+)(?: |,)`)
	everyCommand(func(cmd *cobra.Command) {
		_, codes, _ := strings.Cut(cmd.Long, "Exit codes: ")
		codes, _, _ = strings.Cut(codes, "\n\n")
		for _, m := range number.FindAllStringSubmatch(codes, -1) {
			if !known[m[1]] && m[1] != "128" { // of pages test: 128 + n
				t.Errorf("%s: its help has the exit code %s, which pages help exit-codes lacks", cmd.CommandPath(), m[1])
			}
		}
	})
}

// elsewhereExits are the exit codes that exit_codes.txtar cannot cause, with the test that does.
var elsewhereExits = map[int]string{
	failure.ExitRate: "TestInterruptedDeploys", failure.ExitResume: "TestInterruptedDeploys", failure.ExitInt: "TestInterrupt",
	failure.ExitTerm: "TestPlatform",
}

// TestEveryExitCode: a test shows that a command ends with each code, or gives the reason why none does.
func TestEveryExitCode(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(scripts, "exit_codes.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range manual.ExitMeanings {
		shown := strings.Contains(string(script), fmt.Sprintf("\nexits %d pages ", e.Code))
		if shown == (elsewhereExits[e.Code] != "") {
			t.Errorf("%d: exit_codes.txtar has a command that ends so: %v; a test elsewhere: %q", e.Code, shown, elsewhereExits[e.Code])
		}
	}
	var tests strings.Builder
	for _, file := range []string{"interrupt_test.go", "platform_unix_test.go", "../internal/remote/errors_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	for code, name := range elsewhereExits {
		if !strings.Contains(tests.String(), "\nfunc "+name+"(t *testing.T)") {
			t.Errorf("%d: there is no test %s", code, name)
		}
	}
}

// TestEnvironmentTopic: the topic lists all environment variables that the program reads.
func TestEnvironmentTopic(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", filepath.Join("..", "internal", "*", "*.go")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	read := regexp.MustCompile(`[lL]ookup\("([A-Z_]+)"\)`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range read.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(manual.TopicText("environment"), m[1]) {
				t.Errorf("%s reads %s, which pages help environment does not tell of", file, m[1])
			}
		}
	}
}

// TestStateTopic: the topic lists the files of the state folder.
func TestStateTopic(t *testing.T) {
	for _, name := range []string{
		statefolder.SiteFile, statefolder.ProjectFile, statefolder.PlatformFile, statefolder.KVFile,
		statefolder.StorageFolder, statefolder.CacheFile, statefolder.DevFile, statefolder.UndoFolder, project.PersonasFile,
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(manual.TopicText("state"), name) {
				t.Errorf("pages help state lacks %s", name)
			}
		})
	}
}

// TestGroups: each group's commands and flags exist.
func TestGroups(t *testing.T) {
	root := (&cli{}).newRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, g := range manual.CommandGroups {
		for _, name := range g.Names {
			if !slices.ContainsFunc(root.Commands(), func(cmd *cobra.Command) bool { return cmd.Name() == name }) {
				t.Errorf("%s: there is no command %s", g.Title, name)
			}
		}
	}
}

// TestHelpLogViews: the help of `pages logs sql` lists the views with their columns, in their order.
func TestHelpLogViews(t *testing.T) {
	text, err := os.ReadFile("help/logs_sql.txt")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(string(text)), " ")
	for _, v := range devserver.LogViews() {
		if want := v.Name + " " + strings.Join(v.Columns, ", "); !strings.Contains(words, want) {
			t.Errorf("the help lacks %q", want)
		}
	}
}
