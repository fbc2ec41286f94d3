package manual

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// skillDescription tells an agent when to load the skill.
const skillDescription = "Build, run, test and publish sites of the Workspace platform with the command pages. Use it for work on a " +
	"site: a folder with pages.deploy.json, its Worker, migrations, forms, members pages, secrets, tests and deploys."

// skillTopics are the topics that the skill has in full. An agent needs them for most changes of a site; more would cost it room.
var skillTopics = []string{"manifest", "bindings", "migrations", "members", "forms"}

// Skill returns a skill for coding agents (agentskills.io) about the commands below root. mark is a line of its front matter.
func Skill(root *cobra.Command, version, mark string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: pages\ndescription: %q\nmetadata:\n  %s\n  version: %q\n---\n\n", skillDescription, mark, version)
	about, _, _ := strings.Cut(root.Long, "\n\nExit codes: ")
	fmt.Fprintf(&b, "# pages\n\n%s\n\n%s", about, skillWork)
	for _, name := range skillTopics {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n", strings.ToUpper(name[:1])+name[1:], TopicText(name))
	}
	for _, g := range CommandGroups {
		fmt.Fprintf(&b, "\n## %s\n\n", g.Title)
		for _, name := range g.Names {
			if cmd := FindCommand(root, []string{name}); cmd != nil {
				fmt.Fprintf(&b, "- `pages %s`: %s.\n", name, cmd.Short)
			}
		}
	}
	b.WriteString("\n## Topics: `pages help TOPIC`\n\n")
	for _, t := range topics() {
		fmt.Fprintf(&b, "- `%s`: %s.\n", t.Name, t.Short)
	}
	b.WriteString("\n## Exit codes\n\n")
	for _, e := range ExitMeanings {
		fmt.Fprintf(&b, "- %d: %s.\n", e.Code, strings.Join(strings.Fields(e.Meaning), " "))
	}
	return []byte(b.String())
}

// skillWork describes the usual work.
//
//go:embed skill.md
var skillWork string
