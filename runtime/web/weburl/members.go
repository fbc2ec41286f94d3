package weburl

import (
	"slices"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// urlMembers has the members of JavaScript's URL.
type urlMembers struct {
	href, protocol, username, password, host, hostname, port, pathname, search, hash, origin string
}

// tail is the position in the href at which the query and the fragment begin, or would begin.
func (u *urlMembers) tail() int {
	if at := strings.IndexAny(u.href, "?#"); at >= 0 {
		return at
	}
	return len(u.href)
}

func partsOf(u *whatwg.Url) urlMembers {
	return urlMembers{
		href: u.Href(false), protocol: u.Protocol(), username: u.Username(), password: u.Password(), host: u.Host(), hostname: u.Hostname(),
		port: u.Port(), pathname: u.Pathname(), search: u.Search(), hash: u.Hash(), origin: Origin(u),
	}
}

// Origin is the serialised origin of a URL (URL standard, 4.7).
func Origin(u *whatwg.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Scheme() + "://" + u.Host()
	case "blob":
		if inner, err := Parser.Parse(u.Pathname()); err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return Origin(inner)
		}
	}
	return "null"
}

// setters set a part of a URL by the name of its member.
var setters = map[string]func(u *whatwg.Url, value string){ //nolint:gochecknoglobals // a table
	"protocol": (*whatwg.Url).SetProtocol, "username": (*whatwg.Url).SetUsername, "password": (*whatwg.Url).SetPassword,
	"host": (*whatwg.Url).SetHost, "hostname": (*whatwg.Url).SetHostname, "port": (*whatwg.Url).SetPort,
	"pathname": (*whatwg.Url).SetPathname, "search": (*whatwg.Url).SetSearch, "hash": (*whatwg.Url).SetHash,
}

const (
	urlMarks = 2 * 11 // positions: of the eleven members
	// shortMark, mediumMark and longMark are the bytes of a position in a string that is short enough for them; the last in any
	// that fits in an isolate's memory.
	shortMark, mediumMark, longMark = 1, 2, 4
)

// pack returns the string that JavaScript keeps for a URL: the positions of its members, its href,
// and the members that are not in the href. js/url.js cuts a member out when it is read.
//
// The first byte is the number of bytes of a position, of 7 bits each: so the string stays ASCII,
// and the engine stores one byte for each character.
func (u *urlMembers) pack() string { return string(u.appendPacked(nil)) }

func (u *urlMembers) appendPacked(out []byte) []byte {
	p := urlPacker{href: u.href}
	authority := len(u.protocol) + len("//")
	tail := u.tail()
	path := tail - len(u.pathname)
	host := path - len(u.host)
	p.mark(u.href, 0)
	p.mark(u.protocol, 0)
	p.mark(u.username, authority)
	p.mark(u.password, host-len("@")-len(u.password))
	p.mark(u.host, host)
	p.mark(u.hostname, host)
	p.mark(u.port, path-len(u.port))
	p.mark(u.pathname, path)
	p.mark(u.search, tail)
	p.mark(u.hash, len(u.href)-len(u.hash))
	p.mark(u.origin, 0)
	return p.appendText(out)
}

type urlPacker struct {
	href   string
	others string // parts that href does not have
	marks  [urlMarks]int
	marked int
}

// mark adds a member, with its likely position in the href.
func (p *urlPacker) mark(member string, at int) {
	switch {
	case member == "":
		at = 0
	case at < 0 || at > len(p.href) || !strings.HasPrefix(p.href[at:], member):
		at = len(p.href) + len(p.others)
		p.others += member
	}
	p.marks[p.marked], p.marks[p.marked+1] = at, at+len(member)
	p.marked += 2
}

// appendText appends the string.
func (p *urlPacker) appendText(out []byte) []byte {
	width := shortMark
	for _, next := range []int{mediumMark, longMark} {
		if 1+width*urlMarks+len(p.href)+len(p.others) >= 1<<(7*width) {
			width = next
		}
	}
	start := 1 + width*urlMarks
	n := len(out)
	out = append(append(slices.Grow(out, start+len(p.href)+len(p.others))[:n+start], p.href...), p.others...)
	head := out[n : n+start]
	head[0] = byte(width)
	if width == shortMark {
		for i, position := range p.marks {
			head[1+i] = byte(start + position)
		}
		return out
	}
	for i, position := range p.marks {
		for at := range width {
			head[1+i*width+at] = byte((start + position) >> (7 * (width - 1 - at)) & 0x7f)
		}
	}
	return out
}
