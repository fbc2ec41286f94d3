package site

import "net/http"

// Outside answers visitors where there is no site that could, as a site itself refuses:
// with a page for who looks at one, and with JSON for others. It is safe for concurrent use.
type Outside struct{ pages *pages }

// NewOutside prepares the page.
func NewOutside() (*Outside, error) {
	p, err := newPages(Options{})
	return &Outside{p}, err
}

// Refuse answers. The page has title as its heading; it leads nowhere, since there is
// no site to go to.
func (o *Outside) Refuse(w http.ResponseWriter, r *http.Request, title string, e *RefusalError) {
	x := &exchange{site: &Site{pages: o.pages}, r: r}
	x.out.ResponseWriter = w
	if !wantsPage(r) {
		x.refuseJSON(e)
		return
	}
	ownHeaders(w.Header())
	x.writePage(e.Status, "notice", notice{Title: title, Text: sentence(e.Message), Style: o.pages.style})
}
