package devsession

import (
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/pairing"
	"github.com/pages-toolchain/pages/devserver/site"
)

// PairingEvent is a line of --json: what became of a browser beyond this machine.
type PairingEvent struct {
	Type    string        `json:"type"`
	State   pairing.State `json:"state"`
	Browser int           `json:"browser,omitempty"`
	Code    string        `json:"code,omitempty"`
	Expires *site.Stamp   `json:"expires,omitempty"`
	Host    string        `json:"host"`
	Client  string        `json:"client,omitempty"`
}

// pairing tells of a browser beyond this machine that asks to sign in, also when quiet is
// wanted: nobody else knows the code.
func (k *console) pairing(e pairing.Event) {
	client := ""
	if e.Client.IsValid() {
		client = e.Client.String()
	}
	if k.term.JSON {
		line := PairingEvent{Type: "pairing", State: e.State, Browser: e.Browser, Code: e.Code, Host: e.Host, Client: client}
		if e.State == pairing.Asked {
			line.Expires = &site.Stamp{Time: e.Expires}
		}
		k.event(line)
		return
	}
	who := fmt.Sprintf("browser %d at %s", e.Browser, wording.Printable(e.Host))
	if client != "" {
		who += " (" + client + ")"
	}
	text := ""
	switch e.State {
	case pairing.Asked:
		half := len(e.Code) / 2
		code := e.Code[:half] + " " + e.Code[half:]
		text = fmt.Sprintf("%s to sign in with: %s, for ten minutes; type it there, and tell it to nobody", who, k.term.Paint("1", code))
	case pairing.Paired:
		text = who + " is paired, and signs in as anybody until pages dev ends"
	case pairing.Failed:
		text = who + " tried five wrong codes"
	case pairing.Busy:
		text = "too many browsers asked for a code; there are further ones in ten minutes, or once b was pressed"
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintln(k.term.Stderr, k.term.Paint("36", "pairing:"), text)
}

// beyond says at the start what those names get that the site answers to.
func (k *console) beyond(hosts []string) {
	if len(hosts) > 0 {
		k.line(
			"  beyond       %s: the site alone; who signs in there types a code that is shown here",
			wording.Printable(strings.Join(hosts, ", ")),
		)
	}
}
