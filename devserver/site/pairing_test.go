package site

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/devserver/pairing"
	"github.com/pages-toolchain/pages/manifest"
)

// pairedSite is a site on its author's machine, with the author's notifications.
type pairedSite struct {
	*fixture
	codes *pairing.Codes
	told  []pairing.Event
}

const (
	afar     = "X-Forwarded-For: 203.0.113.9"
	urlForm  = "Content-Type: application/x-www-form-urlencoded"
	asksJSON = "Accept: application/json"
)

func startPaired(t *testing.T, o Options) *pairedSite {
	t.Helper()
	p := &pairedSite{}
	p.codes = pairing.New(pairing.Options{OnEvent: func(e pairing.Event) { p.told = append(p.told, e) }, Now: o.Now})
	o.Pairing, o.DevHints = p.codes, true
	o.AllowHost = func(host string) bool { return host == "127.0.0.1" || host == "demo.example" }
	dir, assets := folder(t, map[string]string{"/club/index.html": secret})
	p.fixture = start(t, o, Revision{
		AssetsDir: dir, Assets: assets,
		Manifest: &manifest.Manifest{Assets: "public", Routes: routes("members /club/*")},
	})
	return p
}

// code is the newest code that the author saw.
func (p *pairedSite) code() string {
	for _, e := range slices.Backward(p.told) {
		if e.Code != "" {
			return e.Code
		}
	}
	return ""
}

// pair pairs a client from beyond this machine.
func (p *pairedSite) pair(t *testing.T, c *http.Client, headers ...string) reply {
	t.Helper()
	headers = append(headers, urlForm)
	if got := p.do(t, c, "GET", "/__pages/sign-in", "", headers...); got.status != 200 {
		t.Fatalf("asked: %d %s", got.status, got.body)
	}
	got := p.do(t, c, "POST", "/__pages/sign-in", url.Values{"code": {p.code()}, "next": {"/club/"}}.Encode(), headers...)
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/__pages/sign-in?next=%2Fclub%2F" {
		t.Fatalf("paired: %d %v %s", got.status, got.header, got.body)
	}
	return got
}

// A session from beyond this machine is valid while the browser is paired, and no longer.
func TestSessionNeedsPairing(t *testing.T) {
	p := startPaired(t, Options{SignedInAs: "owner"})
	c := p.client(t)
	club := func() int { return p.do(t, c, "GET", "/club/", "", afar, asksJSON).status }
	if got := p.get(t, "/club/"); got.status != 200 {
		t.Errorf("on this machine: %d", got.status)
	}
	if got := club(); got != 401 {
		t.Errorf("before pairing: %d", got)
	}
	p.pair(t, c, afar)
	if got := club(); got != 200 {
		t.Errorf("paired, as who visitors are from the start: %d", got)
	}
	if got := p.do(t, c, "POST", "/__pages/sign-in", "persona=outsider", afar, urlForm); got.status != 303 {
		t.Errorf("sign-in: %d %s", got.status, got.body)
	}
	if got := club(); got != 403 {
		t.Errorf("as the outsider: %d", got)
	}
	if got := p.do(t, c, "GET", "/__pages/sign-in?persona=member&next=/club/", "", afar); got.status != 303 ||
		got.header.Get("Location") != "/club/" {
		t.Errorf("by a link: %d", got.status)
	}
	if got := club(); got != 200 {
		t.Errorf("as a member: %d", got)
	}
	for _, path := range []string{"/__pages/api/state", "/__pages/api/leads"} {
		if got := p.do(t, c, "GET", path, "", afar); got.status != 404 {
			t.Errorf("%s for a paired browser: %d", path, got.status)
		}
	}
	p.codes.Forget()
	if got := club(); got != 401 {
		t.Errorf("once it was forgotten: %d", got)
	}
	if got := p.do(t, c, "POST", "/__pages/sign-out", "", afar, urlForm); got.status != 303 {
		t.Errorf("sign-out: %d", got.status)
	}
}

// The cookies are not for scripts; they are for this site, and for https alone if the visitor used https.
func TestPairingCookie(t *testing.T) {
	for _, test := range []struct {
		name    string
		headers []string
		secure  bool
	}{
		{"http", []string{afar, "Host: demo.example"}, false},
		{"https", []string{afar, "Host: demo.example", "X-Forwarded-Proto: https"}, true},
		{"https, rewritten host", []string{afar, "X-Forwarded-Host: demo.example", "X-Forwarded-Proto: https"}, true},
		{"https to this machine", []string{afar, "X-Forwarded-Proto: https"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := startPaired(t, Options{})
			token := ""
			send := func(method, body string) *http.Cookie {
				t.Helper()
				headers := append([]string{urlForm}, test.headers...)
				if token != "" {
					headers = append(headers, "Cookie: "+token)
				}
				got := p.do(t, nil, method, "/__pages/sign-in", body, headers...)
				cookies := (&http.Response{Header: got.header}).Cookies()
				if len(cookies) != 1 {
					t.Fatalf("%s %s: %d with cookies %v", method, body, got.status, cookies)
				}
				return cookies[0]
			}
			first := send("GET", "")
			token = first.Name + "=" + first.Value
			second := send("POST", "code="+p.code())
			if first.Name != second.Name || first.Value == second.Value {
				t.Errorf("the cookie of before is kept: %v, %v", first, second)
			}
			token = second.Name + "=" + second.Value
			for _, c := range []*http.Cookie{first, second, send("POST", "persona=member")} {
				if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure != test.secure ||
					strings.HasPrefix(c.Name, "__Host-") != test.secure || c.Path != "/" || c.Domain != "" {
					t.Errorf("the cookie is %v", c)
				}
				if !sessionCookies().MatchString(c.Name) {
					t.Errorf("a Worker sees the cookie %s", c.Name)
				}
			}
		})
	}
}

// A request that no person made causes no code.
func TestNoCodeUnasked(t *testing.T) {
	p := startPaired(t, Options{})
	for _, test := range []struct {
		method string
		header []string
		status int
	}{
		{"HEAD", nil, 200},
		{"GET", []string{"Sec-Purpose: prefetch"}, 503},
		{"GET", []string{"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Purpose: prefetch;prerender"}, 503},
		{"GET", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"}, 403},
		{"POST", []string{"Origin: http://evil.example", urlForm}, 403},
		{"PUT", nil, 405},
	} {
		t.Run(fmt.Sprint(test.method, " ", test.header), func(t *testing.T) {
			if got := p.do(t, nil, test.method, "/__pages/sign-in", "", append(test.header, afar)...); got.status != test.status {
				t.Errorf("%s %v: %d %s", test.method, test.header, got.status, got.body)
			}
		})
	}
	if got := p.get(t, "/__pages/sign-in"); got.status != 200 || len(p.told) != 0 {
		t.Errorf("on this machine: %d, told %v", got.status, p.told)
	}
	if got := p.do(
		t, nil, "GET", "/__pages/sign-in", "", afar, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
		"Sec-Fetch-Dest: document",
	); got.status != 200 || len(p.told) != 1 {
		t.Errorf("who follows a link: %d, told %v", got.status, p.told)
	}
}

// A visitor that asks too often gets Retry-After, and cannot fill the terminal.
func TestTooManyCodes(t *testing.T) {
	p := startPaired(t, Options{})
	for i := range 20 {
		got := p.do(t, nil, "GET", "/__pages/sign-in", "", afar)
		if got.status == http.StatusTooManyRequests {
			after, err := strconv.Atoi(got.header.Get("Retry-After"))
			if i == 0 || err != nil || after < 1 || after > int((10*time.Minute).Seconds()) ||
				!strings.Contains(got.body, "too many browsers") {
				t.Errorf("the answer is %v %s", got.header, got.body)
			}
		} else if i > 5 {
			t.Fatalf("browser %d gets a code", i)
		}
	}
	if len(p.told) > 4 {
		t.Errorf("told %v", p.told)
	}
}

// A Worker's request to its own site has the permissions of the visitor.
func TestOwnFetchStaysAfar(t *testing.T) {
	p := startPaired(t, Options{})
	inner := func(w http.ResponseWriter, r *http.Request) error {
		again, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://127.0.0.1/__pages/api/leads", nil)
		if err != nil {
			return err
		}
		again.RequestURI, again.RemoteAddr = "/__pages/api/leads", "127.0.0.1:0"
		p.site.ServeHTTP(w, again)
		return nil
	}
	p.site.Swap(Revision{Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /*")}, Worker: workerFunc(inner)})
	if got := p.get(t, "/"); got.status != 200 {
		t.Errorf("of this machine: %d %s", got.status, got.body)
	}
	if got := p.get(t, "/", afar); got.status != 404 {
		t.Errorf("from afar: %d %s", got.status, got.body)
	}
}
