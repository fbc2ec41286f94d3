package loopback

import (
	"net/http"
	"net/textproto"
	"strings"
)

// This file reads the headers that tunnels and proxies add to a request: those of RFC 7239, and other usual ones.

// proxyHeaders are the headers that proxies add.
var proxyHeaders = map[string]proxyHeader{
	"Forwarded": {here: elementsHere, address: true},

	"X-Forwarded-For":          {here: addressesHere, address: true},
	"X-Real-Ip":                {here: addressesHere, address: true},
	"X-Original-Forwarded-For": {here: addressesHere},
	"X-Client-Ip":              {here: addressesHere},
	"X-Cluster-Client-Ip":      {here: addressesHere},
	"X-Remote-Ip":              {here: addressesHere},
	"X-Remote-Addr":            {here: addressesHere},
	"X-Envoy-External-Address": {here: addressesHere},
	"X-Azure-Clientip":         {here: addressesHere},
	"X-Azure-Socketip":         {here: addressesHere},
	"X-Appengine-User-Ip":      {here: addressesHere},
	"Client-Ip":                {here: addressesHere},
	"True-Client-Ip":           {here: addressesHere},
	"Fastly-Client-Ip":         {here: addressesHere},
	"Fly-Client-Ip":            {here: addressesHere},
	"Cf-Connecting-Ip":         {here: addressesHere},

	"X-Forwarded-Host": {here: hostsHere},
	"X-Original-Host":  {here: hostsHere},

	"Via":      {},
	"Cdn-Loop": {here: never},
}

// proxyPrefixes are the beginnings of further ones. Only services beyond this machine add them.
var proxyPrefixes = []struct {
	prefix string
	header proxyHeader
}{
	{"X-Forwarded-", proxyHeader{}},
	{"Cf-", proxyHeader{here: never}},
	{"Tailscale-", proxyHeader{here: never}},
	{"Ngrok-", proxyHeader{here: never}},
}

// proxyHeader describes one header.
type proxyHeader struct {
	here    func(value string) bool // whether a value means a client on this machine; nil if values do not show it
	address bool                    // its values name the client
}

// forwardedHere reports whether a request, if it came through proxies, came from this machine. A proxy must name the client: the proxy of a
// tunnel may add only the scheme.
func forwardedHere(h http.Header) bool {
	proxied, known := false, false
	for name, values := range h {
		t, ok := findProxyHeader(name)
		if !ok {
			continue
		}
		proxied, known = true, known || t.address
		if t.here == nil {
			continue
		}
		for _, value := range values {
			if !t.here(value) {
				return false
			}
		}
	}
	return !proxied || known
}

// findProxyHeader finds a header by name. An underscore counts as a hyphen, as it does for many programs.
func findProxyHeader(name string) (proxyHeader, bool) {
	if name == "" || !strings.ContainsRune("cfntvx", rune(name[0]|0x20)) { // this covers most headers of a browser
		return proxyHeader{}, false
	}
	if strings.Contains(name, "_") {
		name = textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))
	}
	if t, ok := proxyHeaders[name]; ok {
		return t, true
	}
	for _, p := range proxyPrefixes {
		if strings.HasPrefix(name, p.prefix) {
			return p.header, true
		}
	}
	return proxyHeader{}, false
}

func never(string) bool { return false }

func addressesHere(value string) bool { return each(value, ",", addressHere) }

func hostsHere(value string) bool {
	return each(value, ",", func(host string) bool { return hostHere(strings.TrimSpace(host)) })
}

// elementsHere reads a Forwarded header: elements of pairs, each of which must name the client.
func elementsHere(value string) bool {
	return each(value, ",", func(element string) bool {
		named := false
		return each(element, ";", func(pair string) bool {
			name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
			value = strings.Trim(value, `"`)
			switch strings.ToLower(name) {
			case "for":
				named = true
				return addressHere(value)
			case "host":
				return hostHere(value)
			}
			return ok
		}) && named
	})
}

// each reports whether a condition holds for all parts of a list.
func each(list, separator string, holds func(part string) bool) bool {
	for part := range strings.SplitSeq(list, separator) {
		if !holds(part) {
			return false
		}
	}
	return true
}
