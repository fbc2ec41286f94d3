package devcommand

import (
	"context"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file finds the address of a dev server in its output.

var (
	// escapes are those of a terminal: colours, links, the cursor.
	escapes = regexp.MustCompile("\x1b(?:\\[[0-9;?:]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")
	// address is a URL or the //host:port that Hugo prints.
	address = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(https?):?//(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?|` +
			`(?:^|\s)()//(localhost|127\.0\.0\.1):(\d{1,5})/`)
	})
	// onPort is a port without a host, as in "listening on port 3000".
	onPort = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:listening|running|started|ready|serving|server)\b[^\n]*?\bport:?\s+(\d{2,5})\b`)
	})
)

// plain removes the escapes of a terminal and control characters.
func plain(line string) string {
	line = escapes.ReplaceAllString(line, "")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, line)
}

// colours are the escapes that change only the look of a line.
var colours = regexp.MustCompile("^\x1b\\[[0-9;:]*m$")

// Coloured removes escapes and control characters from a line, except for colours and tabs.
func Coloured(line string) string {
	line = escapes.ReplaceAllStringFunc(line, func(escape string) string {
		if colours.MatchString(escape) {
			return escape
		}
		return ""
	})
	line = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\x1b' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, line)
	return line + "\x1b[0m"
}

// candidate is an address in a line of output.
type candidate struct {
	host string // "localhost", "127.0.0.1", "::1"
	port int
	tls  bool
}

// candidatesIn returns the loopback addresses in a plain line, in their order.
func candidatesIn(line string) (list []candidate) {
	for _, found := range address().FindAllStringSubmatch(line, -1) {
		scheme, host, port := strings.ToLower(found[1]), strings.ToLower(found[2]+found[5]), found[3]+found[6]
		c := candidate{host: loopbackHost(host), tls: scheme == "https"}
		if c.host == "" {
			continue
		}
		var err error
		switch c.port, err = strconv.Atoi(port); {
		case port == "" && c.tls:
			c.port = 443
		case port == "":
			c.port = 80
		case err != nil || c.port < 1 || c.port > 65535:
			continue
		}
		list = append(list, c)
	}
	if list == nil {
		if found := onPort().FindStringSubmatch(line); found != nil {
			if port, err := strconv.Atoi(found[1]); err == nil && port > 0 && port <= 65535 {
				list = append(list, candidate{host: "localhost", port: port})
			}
		}
	}
	return list
}

// loopbackHost is a host of this machine; "" for any other. A server that listens on all addresses answers there too.
func loopbackHost(host string) string {
	host = strings.Trim(strings.TrimSuffix(host, "."), "[]")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return host
	}
	at, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return ""
	case at.IsUnspecified() && at.Is4():
		return "127.0.0.1"
	case at.IsUnspecified():
		return "localhost"
	case at.Unmap().IsLoopback():
		return at.String()
	}
	return ""
}

// dial finds the address at which a candidate listens: a name of this machine may be either of two.
func (c candidate) dial(ctx context.Context) (string, bool) {
	hosts := []string{c.host}
	if _, err := netip.ParseAddr(c.host); err != nil {
		hosts = []string{"127.0.0.1", "::1"}
	}
	for _, host := range hosts {
		at := net.JoinHostPort(host, strconv.Itoa(c.port))
		dialer := net.Dialer{Timeout: time.Second}
		if conn, err := dialer.DialContext(ctx, "tcp", at); err == nil {
			_ = conn.Close()
			return at, true
		}
	}
	return "", false
}

// name is the host as the server names itself.
func (c candidate) name() string { return net.JoinHostPort(c.host, strconv.Itoa(c.port)) }
