package starter

import (
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/pages-toolchain/pages/manifest/framework"
)

// DevServer is the dev server of a project's framework.
type DevServer struct {
	Framework string // its name for people
	Script    string // the script of package.json that starts it, a plain word
	Text      string // the command line of the script
}

// FindDevServer looks for a framework with a script that starts its dev server: "dev", or its name in older tools. The project's author
// wrote the script: ask the person before it runs.
func FindDevServer(project fs.FS) (DevServer, bool) {
	f, ok := framework.Find(project)
	text, err := fs.ReadFile(project, "package.json")
	var facts struct{ Scripts map[string]any }
	if !ok || err != nil || json.Unmarshal(text, &facts) != nil {
		return DevServer{}, false
	}
	for _, name := range []string{"dev", "start", "serve"} {
		if run, ok := facts.Scripts[name].(string); ok && strings.TrimSpace(run) != "" && !strings.HasPrefix(run, "pages ") {
			return DevServer{Framework: f.Name, Script: name, Text: run}, true
		}
	}
	return DevServer{}, false
}
