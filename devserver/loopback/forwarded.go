package loopback

import (
	"net/http"
	"net/textproto"
	"strings"
)

// This file reads what tunnels and proxies add to a request: RFC 7239, and what is usual.

// traces are headers that proxies add, and by which values they say that all the same nobody
// from beyond this machine asks.
var traces = map[string]trace{
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
	"Cdn-Loop": {here: nowhere},
}

// prefixes are the beginnings of further ones. Services beyond this machine add the latter.
var prefixes = []struct {
	prefix string
	trace  trace
}{
	{"X-Forwarded-", trace{}}, {"Cf-", trace{here: nowhere}}, {"Tailscale-", trace{here: nowhere}}, {"Ngrok-", trace{here: nowhere}},
}

// trace is what one header says.
type trace struct {
	here    func(value string) bool // nil where no value says anything of who asks
	address bool                    // it says by itself who asks
}

// forwardedHere reports whether a request that came through proxies, if it did, came from
// this machine. Proxies must have said so: that of a tunnel may say no more than the scheme.
func forwardedHere(h http.Header) bool {
	proxied, known := false, false
	for name, values := range h {
		t, ok := traceOf(name)
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

// traceOf finds what a header says. An underscore counts as a hyphen, as it does for many
// programs.
func traceOf(name string) (trace, bool) {
	if name == "" || !strings.ContainsRune("cfntvx", rune(name[0]|0x20)) { // most headers of a browser
		return trace{}, false
	}
	if strings.Contains(name, "_") {
		name = textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))
	}
	if t, ok := traces[name]; ok {
		return t, true
	}
	for _, p := range prefixes {
		if strings.HasPrefix(name, p.prefix) {
			return p.trace, true
		}
	}
	return trace{}, false
}

func nowhere(string) bool { return false }

func addressesHere(value string) bool { return each(value, ",", addressHere) }

func hostsHere(value string) bool {
	return each(value, ",", func(host string) bool { return hostHere(strings.TrimSpace(host)) })
}

// elementsHere reads a Forwarded header: elements of pairs, of which each names who asked.
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

// each reports whether all parts of a list are as they should be.
func each(list, separator string, right func(part string) bool) bool {
	for part := range strings.SplitSeq(list, separator) {
		if !right(part) {
			return false
		}
	}
	return true
}
