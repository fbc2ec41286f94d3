package devserver

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fromAfar = "X-Forwarded-For: 203.0.113.9"

// guestStream opens the reload stream as a page in a browser beyond this machine does.
func (r *running) guestStream(t *testing.T, v string) <-chan string {
	t.Helper()
	res := open(t, "GET", r.url+streamPath+"?token="+r.hub.opener+"&v="+v, asPage, fromAfar)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("reload stream: %s", res.Status)
	}
	return events(t, res.Body)
}

// Pages on other machines get an event for a new version, without the problems of a build
// or the names of style sheets.
func TestGuestsHearOfVersionsAlone(t *testing.T) {
	dir := siteDir(t)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	guest, own := r.guestStream(t, "1"), r.reloadStream(t, "1")
	save := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "public", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.next(t)
	}
	save("index.html", "<p>broken")
	if got := nextEvent(t, own); !strings.HasPrefix(got, "problems ") {
		t.Errorf("the author's page hears %s", got)
	}
	late := r.guestStream(t, "1")
	save("index.html", "<p>mended")
	for name, stream := range map[string]<-chan string{"a guest": guest, "a guest that came while it was broken": late} {
		if got := nextEvent(t, stream); got != `update {"type":"full","version":2}` {
			t.Errorf("%s hears %s", name, got)
		}
	}
	save("style.css", "p { color: blue }")
	if got := nextEvent(t, guest); got != `update {"type":"css","version":3}` {
		t.Errorf("a guest hears %s", got)
	}
}

// Before the first good build, a guest gets the notice that the site is not ready, in every form.
func TestGuestsOfBrokenSite(t *testing.T) {
	dir := siteDir(t)
	if err := os.WriteFile(filepath.Join(dir, "public", "index.html"), []byte("<p>broken-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	if got := r.ask(t, "GET", "/", "Accept: text/html", asDocument); !strings.Contains(got.body, "broken-secret") {
		t.Errorf("the author gets %s", got.body)
	}
	for _, accept := range []string{"text/html", "application/json", "text/plain"} {
		got := r.ask(t, "GET", "/", "Accept: "+accept, asDocument, fromAfar)
		if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" ||
			!strings.Contains(got.body, "he site is being rebuilt") {
			t.Errorf("%s: %d %s", accept, got.StatusCode, got.body)
		}
		for _, told := range []string{"secret", "public/", "index.html", "Cannot build", "mend it", r.hub.token} {
			if strings.Contains(got.body, told) {
				t.Errorf("%s tells of %q: %s", accept, told, got.body)
			}
		}
		if accept == "text/html" && !strings.Contains(got.body, scriptPath) {
			t.Errorf("the page does not reload: %s", got.body)
		}
	}
}

// Pages beyond this machine never take the places of the author's.
func TestGuestsTakeNoPlaces(t *testing.T) {
	h := NewHub(HubOptions{})
	for range maxSubscribers {
		if h.join(0, true) == nil {
			t.Fatal("no room for a guest")
		}
	}
	if h.join(0, true) != nil {
		t.Error("guests are without bound")
	}
	own := h.join(0, false)
	if own == nil {
		t.Fatal("no room for the author")
	}
	if n := h.state().Pages; n != maxSubscribers+1 {
		t.Errorf("%d pages are open", n)
	}
	h.close()
	if _, open := <-own.messages; open {
		t.Error("the author's page is not cut off")
	}
	for page := range h.guests {
		t.Errorf("%v is still open", page)
	}
}

// The reload script opens the stream, and no tool.
func TestScriptHasNoToken(t *testing.T) {
	r := serve(t, &folderBuilder{dir: siteDir(t)}, Hot)
	for _, header := range []string{asPage, fromAfar} {
		if got := r.ask(t, "GET", scriptPath, header); !strings.Contains(got.body, r.hub.opener) ||
			strings.Contains(got.body, r.hub.token) {
			t.Errorf("%s: the script has another token", header)
		}
	}
}
