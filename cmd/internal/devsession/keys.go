package devsession

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/singlekeys"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/pairing"
	"github.com/pages-toolchain/pages/devserver/site"
)

// This file has the keys of `pages dev` on a terminal.

// keyboard runs the actions of keys.
type keyboard struct {
	console    *console
	url        string
	front      *site.Site
	server     *devserver.Server
	pairing    *pairing.Codes
	frontend   *frontend
	inspection *inspection
	as         string // the current persona, "" for signed out
	quit       func()
	open       func(url string) error
}

// shownLeads is the number of leads that the key for leads shows.
const shownLeads = 5

// key is a key with its action; its capital letter has the same action.
type key struct {
	name byte
	help string
	do   func(*keyboard, context.Context)
}

// keys lists the keys in the order in which ? shows them.
func keys() []key {
	return []key{
		{'o', "open the site in a browser", (*keyboard).openSite},
		{'r', "rebuild", (*keyboard).rebuild},
		{'s', "start the framework's dev server again", (*keyboard).restartFrontend},
		{'d', "the address of Chrome's DevTools for the Worker, with --inspect", (*keyboard).showDevTools},
		{'p', "the next persona for visitors who have not signed in", (*keyboard).nextPersona},
		{'b', "forget the browsers that are paired, and all pairing codes", (*keyboard).forgetPaired},
		{'l', "the newest leads", (*keyboard).leads},
		{'c', "clear the terminal", (*keyboard).clear},
		{'q', "quit", func(k *keyboard, _ context.Context) { k.quit() }},
		{'?', "this list", (*keyboard).list},
	}
}

// listen handles the keys of a terminal, until ctx ends. Without a terminal, or if another program reads it, there are no keys.
func (k *keyboard) listen(ctx context.Context) (stop func()) {
	t := k.console.term
	in, ok := t.Stdin.(*os.File)
	if !ok || t.JSON || t.Quiet || !term.IsTerminal(int(in.Fd())) || !terminal.IsTerminal(t.Stderr) {
		return func() {}
	}
	held, err := singlekeys.Hold(in)
	if err != nil {
		return func() {} // the session works without keys
	}
	k.console.line("  keys         ? lists them")
	go k.handleKeys(ctx, held)
	return held.Release
}

// handleKeys runs the action of each key, and ignores unknown keys; h is ? without Shift. A blocked read is abandoned at
// exit.
func (k *keyboard) handleKeys(ctx context.Context, in io.Reader) {
	var b [1]byte
	for {
		n, err := in.Read(b[:])
		if err != nil || ctx.Err() != nil {
			return
		}
		if n == 0 {
			continue
		}
		pressed := bytes.ToLower(b[:])[0]
		if pressed == 'h' {
			pressed = '?'
		}
		for _, known := range keys() {
			if known.name == pressed {
				known.do(k, ctx)
			}
		}
	}
}

func (k *keyboard) list(context.Context) {
	lines := make([]string, 0, len(keys()))
	for _, known := range keys() {
		lines = append(lines, fmt.Sprintf("  %c  %s", known.name, known.help))
	}
	k.console.line("%s", strings.Join(lines, "\n"))
}

func (k *keyboard) openSite(context.Context) {
	k.console.line("opening %s", k.url)
	go func() { // the command may run as long as the browser
		if err := k.open(k.url); err != nil {
			k.console.line("no browser could be opened (%s); the site is at %s", failure.Reason(err), k.url)
		}
	}()
}

func (k *keyboard) rebuild(context.Context) {
	k.console.line("rebuilding")
	k.server.Rebuild()
}

func (k *keyboard) restartFrontend(context.Context) {
	if k.frontend == nil || k.frontend.command == nil {
		k.console.line("pages has not started a framework's dev server: pages dev -- COMMAND starts one")
		return
	}
	k.console.line("starting %s again", k.frontend.command.Name())
	go func() { // it may take a while to end
		if err := k.frontend.command.Restart(); err != nil {
			k.console.line("%s cannot be started: %s", k.frontend.command.Name(), failure.Reason(err))
		}
	}()
}

func (k *keyboard) forgetPaired(context.Context) {
	k.console.line("%s forgotten, and all pairing codes", wording.Count(k.pairing.Forget(), "paired browser"))
}

func (k *keyboard) clear(context.Context) {
	fmt.Fprint(k.console.term.Stderr, "\x1b[2J\x1b[3J\x1b[H")
}

// nextPersona returns the next persona in turn: signed out, then each persona of the site.
func (k *keyboard) nextPersona(context.Context) {
	all := []string{""}
	for _, p := range k.front.Personas() {
		all = append(all, p.Key)
	}
	k.as = all[(slices.Index(all, k.as)+1)%len(all)]
	k.front.SetSignedInAs(k.as)
	if k.as == "" {
		k.console.line("visitors are signed out")
	} else {
		k.console.line("visitors start signed in as %q", k.as)
	}
	k.server.Rebuild() // open pages reload as that persona
}

func (k *keyboard) leads(ctx context.Context) {
	list, err := k.front.Store().Leads(ctx, site.LeadFilter{Limit: shownLeads})
	if err != nil {
		k.console.line("leads: %s", err)
		return
	}
	if len(list) == 0 {
		k.console.line("no leads yet")
	}
	for _, l := range list {
		k.console.line("%s  %s  %s  %s", l.CreatedAt.Local().Format("15:04:05"), l.ID, l.Form, wording.Printable(leadSummary(l)))
	}
}

// leadSummary returns the beginning of a lead's fields.
func leadSummary(l site.Lead) string {
	const most = 60
	var parts []string
	for _, f := range l.Fields {
		parts = append(parts, f.Name+"="+string(f.Value))
	}
	text := []rune(strings.Join(parts, " "))
	if len(text) > most {
		return string(text[:most-1]) + "…"
	}
	return string(text)
}

// openBrowser shows a URL in the user's browser. It waits for the command that opens it, and fails if there is none.
func openBrowser(url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	err := exec.Command(name, args...).Run() //nolint:noctx // a browser outlives the command that opens it
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		return fmt.Errorf("%s: %w", name, exit)
	}
	return err
}
