package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// skillDescription tells an agent when to load the skill.
const skillDescription = "Build, run, test and publish sites of the Workspace platform with the command pages. Use it for work on a site: " +
	"a folder with pages.deploy.json, its Worker, migrations, forms, members pages, secrets, tests and deploys."

// Skill returns a skill for coding agents (agentskills.io) about the commands below root. mark is a line of its front matter.
func Skill(root *cobra.Command, version, mark string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: pages\ndescription: %q\nmetadata:\n  %s\n  version: %q\n---\n\n# pages\n\n%s\n", skillDescription, mark, version, root.Long)
	b.WriteString(skillWork)
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
const skillWork = `
## How to work

1. ` + "`pages dev --background`" + ` starts the site and returns when it answers. ` + "`pages dev status`" + ` shows the problems of the last
   build with file, line and fix; ` + "`pages dev stop`" + ` ends it. The server rebuilds at each save: do not restart it.
2. The MCP server in ` + "`.mcp.json`" + ` (` + "`pages mcp --dev`" + `) has the same as tools, and more: problems, requests, trace, logs,
   explain_route, send_request, sign_in_as, query, leads, events, docs_search. It reads; --allow-write admits changes of data.
3. ` + "`pages docs QUESTION`" + ` searches all help, and ` + "`pages help COMMAND`" + ` shows a page. Look up flags, keys and limits there.
4. ` + "`pages test -- COMMAND`" + ` runs a test runner against the site on a copy of its data; ` + "`pages validate`" + ` checks the manifest.
5. ` + "`pages deploy --plan`" + ` shows the changes of a deploy. A person publishes and confirms.

Every command takes ` + "`--json`" + `: one document on stdout, errors as {"ok": false, "code", "message", "fix"}. Text for people is on stderr.
`
