package fetch

import (
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/web/mimetype"
)

// IsHopByHop reports whether a header is about one connection only (RFC 9110, 7.6.1) and so never
// goes from or to a Worker.
func IsHopByHop(canonical string) bool {
	switch canonical {
	case "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// ClientAddress is the header that tells the Worker its client's address. Only this package sets
// it, and it is not sent on.
const ClientAddress = "Cf-Connecting-Ip"

// HeaderList is the headers of a client's request in the form for JavaScript: lower-case names and values in turn, sorted by name except
// for the last two.
func HeaderList(r *http.Request) []string {
	list := flatten(r.Header, ClientAddress)
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		list = append(list, "cf-connecting-ip", at.Addr().Unmap().WithZone("").String())
	}
	if IsUpgrade(r) {
		list = append(list, "connection", "Upgrade", "upgrade", "websocket")
	}
	if r.Host != "" {
		list = append(list, "host", r.Host)
	}
	return list
}

// RequestHeader returns those of a Worker's request headers that are sent: names and values in turn. Framing, the
// connection and the host are not the Worker's.
func RequestHeader(list []string) http.Header {
	header := http.Header{}
	for i := 0; i+1 < len(list); i += 2 {
		switch name := http.CanonicalHeaderKey(list[i]); {
		case IsHopByHop(name), name == "Host", name == "Content-Length", name == "Expect", name == ClientAddress:
		default:
			header[name] = append(header[name], list[i+1])
		}
	}
	if header["User-Agent"] == nil {
		header["User-Agent"] = []string{""} // none, rather than net/http's
	}
	return header
}

// flatten returns a header in JavaScript's form, lower-case names and values alternating, without
// the header named without.
func flatten(header http.Header, without string) []string {
	const more = 8 // headers that HeaderList adds
	list := make([]string, 0, 2*len(header)+more)
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if IsHopByHop(name) || name == without || !mimetype.IsToken(name) { // net/http takes "name :" from a server
			continue
		}
		lower := strings.ToLower(name)
		for _, value := range header[name] {
			list = append(list, lower, wireText(value))
		}
	}
	return list
}

// wireText returns a header's value as text: decoded if it is UTF-8, otherwise each byte as a character.
func wireText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, 0, len(s))
	for i := range len(s) {
		runes = append(runes, rune(s[i]))
	}
	return string(runes)
}

// IsUpgrade reports whether a request asks for a WebSocket.
func IsUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}
