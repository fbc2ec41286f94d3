// Package publish changes what visitors of a site see: it plans, sends, proposes, and takes proposals to a person who confirms them.
//
// In go a session, a built site and options; out come reports, printed on the session's terminal, and a *failure.Error with the line
// that confirms what is only proposed. A deploy that was cut off resumes when it is run again; a confirmation whose answer is lost
// can be repeated, and happens once. What stands after a signal is said before the error returns. A Proposer is for one goroutine.
//
// It never confirms anything that a person has not agreed to, and never says that something is live unless the service does.
package publish

import (
	"fmt"

	"github.com/pages-toolchain/pages/cmd/internal/remote"
)

// Proposer takes proposals to a person.
type Proposer struct {
	Session *remote.Session
	// NearestDir is the site's folder that a command finds without being told; "" for none. A line that confirms names any other.
	NearestDir  string
	ProposeOnly bool // never ask

	stopTold bool   // what stands after a signal was said
	unkept   string // the id of a proposal that could not be kept
}

// stopped says what stands after a signal, once.
func (p *Proposer) stopped(format string, args ...any) {
	if !p.stopTold {
		fmt.Fprintf(p.Session.Term.Stderr, format+"\n", args...)
	}
	p.stopTold = true
}
