package devserver

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/site"
)

// ui holds the pages, scripts and styles that the dev server itself shows.
//
//go:embed ui
var ui embed.FS

// WriteProblemPage answers r with p, in the form the client asks for: a page, a
// JSON object {"ok":false,"problem":{…}}, or plain text. The status is
// p.Status, or 500. A visitor from beyond this machine is told nothing of the
// author's files. Nothing may have been written to w before.
func WriteProblemPage(w http.ResponseWriter, r *http.Request, p Problem) {
	writeProblems(w, r, []Problem{p}, 0)
}

// writeProblems answers with the first problem and, on the page, with the
// others below it. build is the number of the failed build they come from, by
// which the reload script knows that the page is about it; 0 is for none.
func writeProblems(w http.ResponseWriter, r *http.Request, problems []Problem, build int64) {
	if len(problems) == 0 {
		problems = []Problem{{Message: "the build failed without saying why"}}
	}
	if loopback.VisitOf(r.Context()) != nil {
		refuseGuest(w, r, problems[0], build)
		return
	}
	nonce := rand.Text()
	contentType, body := problemBody(r, problems, build, nonce)
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'nonce-"+nonce+"'; script-src 'self'; connect-src 'self'; img-src 'self'; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if problems[0].Retriable {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(problems[0].status())
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client is gone, and nothing is left to tell it
	}
}

// refuseGuest says that the site does not answer, and not why.
func refuseGuest(w http.ResponseWriter, r *http.Request, p Problem, build int64) {
	if build != 0 {
		w.Header().Set("Retry-After", "5")
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusServiceUnavailable, Code: "site_rebuilding",
			Message: "the site is being rebuilt, try again in a moment",
		})
		return
	}
	site.Refuse(w, r, &site.RefusalError{Status: p.status(), Code: "worker_failed", Message: "the site's code failed to answer"})
}

func problemBody(r *http.Request, problems []Problem, build int64, nonce string) (contentType string, body []byte) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.Contains(accept, "text/html") {
		if page, err := problemHTML(problems, build, nonce); err == nil {
			return "text/html; charset=utf-8", page
		}
	}
	if strings.Contains(accept, "json") {
		doc := map[string]any{"ok": false, "problem": problems[0]}
		if data, err := json.Marshal(doc); err == nil {
			return "application/json", append(data, '\n')
		}
	}
	return "text/plain; charset=utf-8", []byte(ProblemsText(problems))
}

// problemHTML renders the page. The template is parsed each time: it is shown
// to one person, rarely, and so needs no state of the package.
func problemHTML(problems []Problem, build int64, nonce string) ([]byte, error) {
	t, err := template.ParseFS(ui, "ui/problem.html")
	if err != nil {
		return nil, err
	}
	style, err := ui.ReadFile("ui/problem.css")
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = t.Execute(&page, map[string]any{
		"Problems": problems, "Heading": problems[0].heading(), "Status": problems[0].status(),
		"Build": build, "Nonce": nonce,
		"Style": template.CSS(style), // our own embedded file
	})
	return page.Bytes(), err
}
