package misuse

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/manual"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// OtherCommands are commands of wrangler, Netlify CLI, Vercel CLI and the Firebase CLI, each with the possible names here. The first name
// that the command before it has is the intended one.
var OtherCommands = map[string][]string{
	"add":             {"set", "connect"},
	"approve":         {"confirm"},
	"auth":            {"login"},
	"check":           {"validate"},
	"create":          {"init", "set", "save", "new"},
	"d1":              {"db"},
	"database":        {"db"},
	"delete":          {"remove"},
	"deployments":     {"revisions"},
	"down":            {"undo"},
	"emulators:start": {"dev"},
	"env":             {"secrets"},
	"functions":       {"routes"},
	"functions:serve": {"dev"},
	"generate":        {"init", "new"},
	"generate-types":  {"types"},
	"history":         {"revisions"},
	"kv":              {"state"},
	"link":            {"deploy"},
	"lint":            {"validate"},
	"list":            {"status"},
	"log":             {"logs"},
	"ls":              {"list", "revisions"},
	"new":             {"init"},
	"promote":         {"confirm"},
	"publish":         {"deploy"},
	"push":            {"deploy"},
	"put":             {"set"},
	"r2":              {"state"},
	"revert":          {"rollback"},
	"rm":              {"remove"},
	"run":             {"dev"},
	"serve":           {"dev"},
	"share":           {"preview"},
	"sql":             {"db"},
	"start":           {"dev"},
	"status":          {"whoami"},
	"storage":         {"state"},
	"tail":            {"logs"},
	"typegen":         {"types"},
	"undo":            {"rollback"},
	"unset":           {"remove"},
	"versions":        {"revisions"},
}

// OtherFlags are flags of their commands, by the names of ours, each with the advice for its use here.
var OtherFlags = map[string]map[string]string{
	"build": {
		"e":     oneEnvironment,
		"env":   oneEnvironment,
		"w":     onSave,
		"watch": onSave,
	},
	"deploy": {
		"ci":              neverAsk,
		"draft":           "pages deploy --preview gives a link, and publishes nothing",
		"e":               oneEnvironment,
		"env":             oneEnvironment,
		"dry-run":         "pages deploy --plan shows the changes, and sends nothing",
		"non-interactive": neverAsk,
		"prebuilt":        "leave it out: pages sends only files that the service does not have",
		"prod":            isProduction,
		"production":      isProduction,
		"y":               neverAsk,
		"yes":             neverAsk,
	},
	"dev": {
		"H":        "did you mean --host?",
		"e":        oneEnvironment,
		"env":      oneEnvironment,
		"hostname": "did you mean --host?",
		"ip":       "did you mean --host?",
		"local":    isLocalOnly,
		"open":     "leave it out: o opens the site once it runs",
		"p":        "did you mean --port?",
		"remote":   isLocalOnly,
	},
	"login": {
		"api-key": noKeyFlag,
		"key":     noKeyFlag,
		"token":   noKeyFlag,
	},
	"logs": {
		"tail": "did you mean --follow?",
	},
	"migrate": {
		"check":   planned,
		"dry-run": planned,
		"local":   isLocalOnly,
		"remote":  "leave it out: pages deploy makes the platform apply its pending migrations",
	},
}

const (
	isLocalOnly    = "leave it out: everything is on this machine until pages deploy"
	noKeyFlag      = "leave it out: pages login asks for the key, or reads it from stdin; others can read a command line"
	oneEnvironment = "leave it out: a site has one environment; on this machine the values of its secrets are in .dev.vars"
	isProduction   = "leave it out: pages deploy publishes; --preview gives a link instead"
	neverAsk       = "pages publishes only after a confirmation: --propose-only prints the command for it, pages confirm ID"
	onSave         = "pages dev builds at every save, and pages validate --watch checks at every save"
	planned        = "pages migrate plan runs the pending migrations on a copy, and shows the changes"
)

// MeantCommand is the command line that an unknown word below cmd was most likely meant to begin; "" for none.
func MeantCommand(cmd *cobra.Command, word string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.Runnable() && !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	for _, name := range OtherCommands[word] {
		if slices.Contains(names, name) {
			return cmd.CommandPath() + " " + name
		}
	}
	if near := wording.Nearest(word, names); near != "" {
		return cmd.CommandPath() + " " + near
	}
	if near := wording.Nearest(word, manual.PageNames(cmd)); near != "" {
		return "pages help " + near
	}
	return ""
}

// meantFlag returns the advice for a flag that cmd does not have; "" for none.
func meantFlag(cmd *cobra.Command, unknown *pflag.NotExistError) string {
	name := unknown.GetSpecifiedName()
	if instead := OtherFlags[cmd.Name()][name]; instead != "" {
		return instead
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := wording.Nearest(name, names); near != "" {
		return "did you mean --" + near + "?"
	}
	return ""
}
