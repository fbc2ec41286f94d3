package manual

import (
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Topic is a help page about a subject, not about a command.
type Topic struct{ Name, Short, Text string }

// RoomTopics lists the topics about rooms: their purpose and rules, and the commands that show their state.
func RoomTopics() []Topic {
	return []Topic{
		newTopic("manifest", "The keys of pages.deploy.json"),
		newTopic("bundling", "How a Worker becomes one file"),
		newTopic("runtime", "How a Worker runs, and its limits"),
		newTopic("bindings", "The bindings in a Worker's env"),
		newTopic("migrations", "How a database gets its tables"),
		newTopic("members", "Who sees members pages"),
		newTopic("forms", "How a form becomes a lead"),
		newTopic("submissions", "How a lead becomes a row"),
		newTopic("spam", "Which posts are spam"),
		newTopic("publishing", "What happens between deploy and live"),
		newTopic("service", "The platform's service on this machine"),
	}
}

func topics() []Topic {
	return append(RoomTopics(),
		Topic{"exit-codes", "What the exit codes mean", exitCodesTopic()},
		newTopic("environment", "The environment variables that pages reads"),
		newTopic("network", "Phones, tunnels and containers"),
		newTopic("node", "The bindings in a framework's own process"),
		newTopic("state", "The data in .pages, and how to save it"),
		newTopic("assumptions", "Points that the platform's document leaves open"),
	)
}

// addTopics makes each topic a page of `pages help`. A topic with the name of a command becomes a part of that command's page.
func addTopics(root *cobra.Command) {
	for _, t := range topics() {
		if cmd := FindCommand(root, []string{t.Name}); cmd != nil {
			cmd.Long += "\n\n" + t.Text
			continue
		}
		root.AddCommand(&cobra.Command{Use: t.Name, Short: t.Short, Long: t.Text})
	}
}

//go:embed topics/*.txt
var topicTexts embed.FS

func newTopic(name, short string) Topic { return Topic{name, short, TopicText(name)} }

// TopicText returns the text of topics/NAME.txt.
func TopicText(name string) string {
	text, err := topicTexts.ReadFile("topics/" + name + ".txt")
	if err != nil {
		panic(err) // the texts are part of the program
	}
	return topicWords().Replace(strings.TrimSuffix(string(text), "\n"))
}

// topicWords fills in the names and figures of a text. {{NAME:12}} is padded to twelve columns.
var topicWords = sync.OnceValue(func() *strings.Replacer {
	var defaults, ceilings []string
	var help strings.Builder
	for _, l := range limits.All() {
		defaults = append(defaults, fmt.Sprintf("%q: %d", l.Key, l.Default))
		ceilings = append(ceilings, fmt.Sprintf("%s %d (at most %d)", l.Key, l.Default, l.Ceiling))
		fmt.Fprintf(&help, "  %-13s %s: %d unless given, at most %d", l.Key, l.Help[0], l.Default, l.Ceiling)
		if l.Help[1] != "" {
			fmt.Fprintf(&help, ".\n%16s%s", "", l.Help[1])
		}
		help.WriteByte('\n')
	}
	words := []string{
		"{{manifest}}", manifest.FileName, "{{pin date}}", manifest.PinDate,
		"{{reserved}}", sitepath.ReservedPages, "{{reserved previews}}", sitepath.ReservedPreview,
		"{{default limits}}", "{" + strings.Join(defaults, ", ") + "}", "{{ceilings}}", strings.Join(ceilings, ", "),
		"{{runtime limits}}", help.String(),
	}
	for key, name := range map[string]string{
		"DB": manifest.DatabaseName, "PROJECT_DB": manifest.ProjectDatabaseName, "KV": manifest.DefaultKVName,
		"BUCKET": manifest.DefaultStorageName, "IMAGES": manifest.ImagesName, "ASSETS": manifest.AssetsName,
	} {
		words = append(words, "{{"+key+"}}", name, "{{"+key+":12}}", fmt.Sprintf("%-12s", name))
	}
	return strings.NewReplacer(words...)
})

// ExitMeanings lists the exit codes, on which scripts and CI rely.
var ExitMeanings = []struct {
	Code    int
	Meaning string
}{
	{0, "done; pages dev and pages platform stopped by Ctrl-C"},
	{failure.ExitRefused, "the input was refused, or something failed"},
	{failure.ExitUsage, "wrong usage: an unknown flag, argument or command"},
	{failure.ExitPerson, "a person is needed: a question without a terminal to ask on, or a confirmation\n       that is outstanding"},
	{failure.ExitAccess, "the key was refused (401), or may not do this (403)"},
	{failure.ExitTool, "a tool of the service refused: ok is false"},
	{failure.ExitRate, "still rate limited after waiting"},
	{failure.ExitNetwork, "no response from the network, or a 5xx"},
	{failure.ExitResource, "a port, the disk or a lock of this machine"},
	{failure.ExitChanges, "there are changes; only with --exit-code"},
	{failure.ExitResume, "gave up halfway; run it again to continue"},
	{failure.ExitInt, "stopped by Ctrl-C (SIGINT)"},
	{failure.ExitTerm, "stopped by SIGTERM"},
}

func exitCodesTopic() string {
	var b strings.Builder
	b.WriteString("A later version may give a failure a more precise code, and never the code 0.\n\n")
	for _, e := range ExitMeanings {
		fmt.Fprintf(&b, "  %3d  %s\n", e.Code, e.Meaning)
	}
	b.WriteString("\npages test ends with the code of its command, and with 128 + n when signal n ended it.\nWith --json a failure is " +
		"{\"ok\": false, \"code\", \"message\", \"fix\"} on stdout.")
	return b.String()
}
