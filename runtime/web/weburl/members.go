package weburl

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// urlMembers is a URL as JavaScript sees it: the members of URL.
type urlMembers struct {
	href, protocol, username, password, host, hostname, port, pathname, search, hash, origin string
}

// credentials stand before the host.
func (u *urlMembers) credentials() string {
	switch {
	case u.password != "":
		return u.username + ":" + u.password + "@"
	case u.username != "":
		return u.username + "@"
	}
	return ""
}

// tail is where the query and the fragment begin in the href, or would.
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

func setPart(u *whatwg.Url, part, value string) {
	switch part {
	case "protocol":
		u.SetProtocol(value)
	case "username":
		u.SetUsername(value)
	case "password":
		u.SetPassword(value)
	case "host":
		u.SetHost(value)
	case "hostname":
		u.SetHostname(value)
	case "port":
		u.SetPort(value)
	case "pathname":
		u.SetPathname(value)
	case "search":
		u.SetSearch(value)
	case "hash":
		u.SetHash(value)
	}
}
