package devserver

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// This file checks whether the reload script works under a page's Content-Security-Policy. A browser reports a forbidden
// script only on its own console, and a page that is not reloaded looks like a save that had no effect.
// https://www.w3.org/TR/CSP3/

// policyObstacle is the directive of a page's policies that forbids the script.
type policyObstacle struct {
	directive string // "" for none
	text      string // as in the policy
	fix       string
}

const byHand = ", or reload its pages by hand"

// obstacleOf returns the obstacle in the policies of the response to r. nonce is that of its script, "" for none.
func obstacleOf(policies []string, r *http.Request, nonce string) policyObstacle {
	for policy := range strings.SplitSeq(strings.Join(policies, ","), ",") {
		p := directivesOf(policy)
		if flags, ok := p["sandbox"]; ok && !(hasToken(flags, "allow-scripts") && hasToken(flags, "allow-same-origin")) {
			return policyObstacle{
				"sandbox", shownDirective("sandbox", flags),
				"give it allow-scripts and allow-same-origin under pages dev" + byHand,
			}
		}
		if name, sources, ok := p.first("script-src-elem", "script-src", "default-src"); ok &&
			!allowsSource(sources, r, scriptPath, nonce) {
			return policyObstacle{name, shownDirective(name, sources), "let script-src have 'self' or a nonce under pages dev" + byHand}
		}
		if name, sources, ok := p.first("connect-src", "default-src"); ok && !allowsSource(sources, r, streamPath, "") {
			return policyObstacle{name, shownDirective(name, sources), "let connect-src have 'self' under pages dev" + byHand}
		}
	}
	return policyObstacle{}
}

// directives has the directives of one policy, by name.
type directives map[string][]string

func directivesOf(policy string) directives {
	all := directives{}
	for directive := range strings.SplitSeq(policy, ";") {
		fields := strings.Fields(directive)
		if len(fields) == 0 {
			continue
		}
		if name := strings.ToLower(fields[0]); all[name] == nil { // a second directive of the same name does not count
			all[name] = fields[1:]
		}
	}
	return all
}

// first returns the first of the given directives that the policy has: the later ones are its fallbacks.
func (d directives) first(names ...string) (name string, sources []string, ok bool) {
	for _, name := range names {
		if sources, ok := d[name]; ok {
			return name, sources, true
		}
	}
	return "", nil, false
}

func hasToken(list []string, token string) bool {
	return slices.ContainsFunc(list, func(each string) bool { return strings.EqualFold(each, token) })
}

// allowsSource reports whether sources let a page load path from its own origin.
func allowsSource(sources []string, r *http.Request, path, nonce string) bool {
	if nonce != "" && hasToken(sources, "'nonce-"+nonce+"'") {
		return true
	}
	if hasToken(sources, "'strict-dynamic'") && path == scriptPath {
		return false
	}
	return slices.ContainsFunc(sources, func(source string) bool { return isOwn(strings.ToLower(source), r, path) })
}

// isOwn reports whether a source covers path at the origin of r.
func isOwn(source string, r *http.Request, path string) bool {
	scheme := "http"
	if r.Header.Get("X-Forwarded-Proto") == "https" { // a tunnel
		scheme = "https"
	}
	switch source {
	case "'self'", "*", "http:", scheme + ":":
		return true
	}
	if named, rest, ok := strings.Cut(source, "://"); ok {
		if named != scheme && named != "http" {
			return false
		}
		source = rest
	}
	at, under, _ := strings.Cut(source, "/")
	if under = "/" + under; !strings.HasSuffix(under, "/") && under != path || !strings.HasPrefix(path, under) {
		return false
	}
	return isHost(at, strings.ToLower(r.Host), scheme)
}

// isHost compares the host of a source with that of a request. A host without a port has the default one of the scheme.
func isHost(source, host, scheme string) bool {
	standard := map[string]string{"http": "80", "https": "443"}[scheme]
	split := func(host string) (name, port string) {
		if name, port, err := net.SplitHostPort(host); err == nil {
			return name, port
		}
		return host, standard
	}
	name, port := split(host)
	wanted, wantedPort := split(source)
	suffix, wild := strings.CutPrefix(wanted, "*")
	return (wantedPort == "*" || wantedPort == port) && (wanted == name ||
		wild && strings.HasPrefix(suffix, ".") && strings.HasSuffix(name, suffix))
}

// shownDirective formats a directive for the log.
func shownDirective(name string, values []string) string {
	const most = 80
	text := strings.TrimSpace(name + " " + strings.Join(values, " "))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
