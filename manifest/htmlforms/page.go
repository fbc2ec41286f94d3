// Package htmlforms finds the forms of HTML pages that post to the platform: name, method and place ([Search]).
//
// Input: pages of an fs.FS, read once from start to end. Memory and work are bounded, and [ErrTooMuch] means that a page exceeds
// the bounds. Other errors are those of the file system. A Search is not safe for concurrent use. The package runs no script,
// follows no link, and compares nothing with a manifest.
package htmlforms

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Bounds on the memory for a page.
const (
	maxPageToken = 1 << 20 // bytes of one tag, comment or text
	maxPageForms = 100_000 // forms, and names of their fields, of all pages
)

// ErrTooMuch ends a search that would take too long.
var ErrTooMuch = errors.New("too much to look through")

// formsPath is the path for posts of forms: itself with a "form" field, or with "/" and the form's name.
const formsPath = "/__pages/forms"

const defaultForm = "default" // the name of a form without one

// Form is a form of a page under one of the names it may post.
type Form struct {
	Name                             string
	Posts                            bool     // the form posts to the platform; otherwise only its fields suggest that
	Gets                             bool     // addresses the platform, but never sent with POST; set for one name only
	Fields                           []string // names under which its controls send answers, each once, in their order
	File                             string
	Line, Column, EndLine, EndColumn int // of the start tag
	Source                           string
	SourceColumn                     int
}

// Tag is one form element of a page.
type Tag struct {
	Form            // Name is the first name that it may post, otherwise that of its start tag
	Action   string // the decoded path on this site that it is sent to; "" for an address elsewhere
	Written  bool   // it has an action
	Sent     bool   // sent with POST
	Encoding string // its "enctype", in lower case
	Files    bool   // whether it has a field for files
	Unnamed  int    // fields that are never sent, because they have no name
	Next     string // the value of its field "_next"
	Host     string // the attribute by which another host would collect it, such as "data-netlify"
}

// formTag is a form while its page is read.
type formTag struct {
	Tag
	text    sourcetext.Excerpt
	id      string
	actions []string // of the form and of its buttons
	action  string   // as it was written
	names   []string // values of its fields "form"
	post    bool     // the form, or one of its buttons, is sent with POST
	asked   fieldNames
}

// formField is a control that names a form or an action of its own.
type formField struct {
	form      *formTag // the enclosing form, nil for none
	id        string   // of the form it belongs to instead
	elsewhere bool
	names     []string
	action    string
	post      bool
	asks      []string // the names of the answers that it sends

	files, unnamed bool
	next           string
}

// pageScan reads one page like a browser: comments, scripts and the like contain no forms; <noscript>, <template> and
// srcdoc can.
type pageScan struct {
	file   string
	base   *url.URL
	based  bool // a <base> came: the first one counts
	place  sourcetext.Cursor
	kept   *int
	forms  []*formTag
	fields []*formField

	open      *formTag   // the form of the next controls
	outer     []*formTag // the open form outside of each open template
	choice    *formField // the open select "form"
	option    *formField // its option without a value, up to its text
	text      *formField // the textarea "form", up to its text
	noscript  bool       // the next text is that of a noscript
	embedding int        // depth of srcdoc in srcdoc
}

// newPageScan returns a scan of the file served at a path without a leading slash.
func newPageScan(file, path string) *pageScan {
	return &pageScan{file: file, base: &url.URL{Path: "/" + path}, place: sourcetext.NewCursor(), kept: new(int)}
}

// run reads to the end.
func (s *pageScan) run(r io.Reader) error {
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxPageToken)
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
		if *s.kept > maxPageForms {
			return ErrTooMuch
		}
		if kind == html.TextToken && s.noscript {
			s.noscript = false
			if err := s.run(bytes.NewReader(bytes.Clone(z.Raw()))); err != nil {
				return err
			}
			continue
		}
		raw := z.Raw()
		start, before := s.place, s.place.Source()
		for i := len(s.forms); i > 0 && !s.forms[i-1].text.Whole; i-- { // the last forms, whose line continues
			s.forms[i-1].text.Extend(raw)
		}
		before.Extend(raw)
		s.place.Advance(raw)
		if err := s.token(z, kind, start, before); err != nil {
			return err
		}
	}
}

func (s *pageScan) token(z *html.Tokenizer, kind html.TokenType, start sourcetext.Cursor, text sourcetext.Excerpt) error {
	switch kind {
	case html.StartTagToken, html.SelfClosingTagToken:
		name, more := z.TagName()
		switch tag := string(name); tag {
		case "form", "input", "button", "select", "option", "textarea", "template", "noscript", "iframe", "base":
			return s.start(tag, attributes(z, more), start, text)
		default:
			if strings.Contains(tag, "-") { // a custom element may be a control
				s.control(tag, attributes(z, more))
			}
		}
	case html.EndTagToken:
		name, _ := z.TagName()
		s.end(string(name))
	case html.TextToken: // of an option or a textarea
		for _, f := range []*formField{s.option, s.text} {
			if f != nil {
				f.names = append(f.names, strings.TrimSpace(html.UnescapeString(string(z.Raw()))))
			}
		}
		s.option, s.text = nil, nil
	default:
	}
	return nil
}

// attributes reads the relevant attributes. If a name repeats, the first one counts.
func attributes(z *html.Tokenizer, more bool) map[string]string {
	m := map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch k := string(key); k {
		case "action", "data-netlify", "dirname", "disabled", "enctype", "form", "formaction", "formmethod", "href", "id", "method", "name",
			"netlify", "srcdoc", "type", "value":
			if _, twice := m[k]; !twice {
				m[k] = string(value)
			}
		}
	}
	return m
}

func (s *pageScan) start(tag string, attr map[string]string, start sourcetext.Cursor, text sourcetext.Excerpt) error {
	switch tag {
	case "base":
		if href, ok := attr["href"]; ok && !s.based {
			s.based = true
			if u, err := url.Parse(sitepath.BrowserURL(href)); err == nil {
				s.base = s.base.ResolveReference(u)
			}
		}
	case "template":
		s.outer = append(s.outer, s.open)
		s.open = nil
		*s.kept++
	case "noscript":
		s.noscript = true
	case "iframe":
		return s.scanEmbedded(attr["srcdoc"], start, text)
	case "form":
		if s.open != nil {
			return nil // HTML ignores a nested form
		}
		*s.kept++
		s.open = &formTag{
			Tag: Tag{
				Form:     Form{File: s.file, Line: start.Line, Column: start.Column, EndLine: s.place.Line, EndColumn: s.place.Column},
				Encoding: strings.ToLower(strings.TrimSpace(attr["enctype"])), Written: has(attr, "action"), Sent: isPost(attr["method"]),
			},
			text: text, id: attr["id"], actions: []string{attr["action"]}, action: attr["action"], post: isPost(attr["method"]),
		}
		s.open.Name = attr["name"]
		for _, host := range [...]string{"data-netlify", "netlify"} {
			if value, ok := attr[host]; ok && value != "false" {
				s.open.Host = host
			}
		}
		s.forms = append(s.forms, s.open)
	case "option":
		s.option = nil
		if s.choice == nil || has(attr, "disabled") {
			return nil
		}
		*s.kept++
		if has(attr, "value") {
			s.choice.names = append(s.choice.names, attr["value"])
		} else {
			s.option = s.choice
		}
	default:
		s.control(tag, attr)
	}
	return nil
}

// scanEmbedded reads the page inside an iframe. Its forms have the place of the iframe.
func (s *pageScan) scanEmbedded(page string, start sourcetext.Cursor, text sourcetext.Excerpt) error {
	const deepest = 4
	if !mayHoldForm([]byte(page)) || s.embedding == deepest {
		return nil
	}
	inner := &pageScan{file: s.file, base: s.base, place: s.place, kept: s.kept, embedding: s.embedding + 1}
	inner.place.Frozen = true
	err := inner.run(strings.NewReader(page))
	inner.assignFields()
	for _, f := range inner.forms {
		f.Line, f.Column, f.text, f.id = start.Line, start.Column, text, ""
		s.forms = append(s.forms, f)
	}
	return err
}

// control reads an input, button, select or textarea.
func (s *pageScan) control(tag string, attr map[string]string) {
	kind := strings.ToLower(attr["type"])
	submits := tag == "button" && kind != "button" && kind != "reset" || tag == "input" && (kind == "submit" || kind == "image")
	carries := attr["name"] == "form" && (submits && kind != "image" || tag == "select" || tag == "textarea" ||
		tag == "input" && kind != "button" && kind != "reset" && kind != "file" && kind != "image")
	action, post := "", false
	if submits {
		action, post = attr["formaction"], isPost(attr["formmethod"])
	}
	asks := answerNames(tag, kind, attr)
	answers := tag == "textarea" || tag == "select" || tag == "input" && !submits && kind != "button" && kind != "reset"
	f := &formField{
		form: s.open, action: action, post: post, asks: asks, unnamed: answers && attr["name"] == "",
		files: tag == "input" && kind == "file" && attr["name"] != "",
	}
	if tag == "input" && attr["name"] == "_next" {
		f.next = attr["value"]
	}
	if has(attr, "disabled") { // a script may enable it: only its name counts
		carries = false
		*f = formField{form: s.open, asks: asks}
	}
	if !carries && f.action == "" && !f.post && !f.unnamed && !f.files && f.next == "" {
		s.ask(attr, asks)
		return
	}
	*s.kept++
	f.id, f.elsewhere = attr["form"], has(attr, "form")
	s.fields = append(s.fields, f)
	switch {
	case !carries:
	case tag == "select":
		s.choice = f
	case tag == "textarea":
		s.text = f
	default:
		f.names = []string{attr["value"]}
	}
}

func isPost(method string) bool { return strings.EqualFold(method, "post") }

func has(attr map[string]string, key string) bool {
	_, ok := attr[key]
	return ok
}

func (s *pageScan) end(tag string) {
	switch tag {
	case "form":
		s.open = nil
	case "template":
		if n := len(s.outer); n > 0 {
			s.open, s.outer = s.outer[n-1], s.outer[:n-1]
		}
	case "select":
		s.choice, s.option = nil, nil
	case "option":
		s.option = nil
	case "textarea":
		s.text = nil
	case "noscript":
		s.noscript = false
	}
}

// assignFields gives every field to its form: the enclosing one, or the one with the id it names.
func (s *pageScan) assignFields() {
	byID := map[string]*formTag{}
	for _, f := range slices.Backward(s.forms) {
		if f.id != "" {
			byID[f.id] = f // the first one stays
		}
	}
	for _, field := range s.fields {
		form := field.form
		if field.elsewhere {
			form = byID[field.id]
		}
		if form == nil {
			continue
		}
		form.asked.add(field.asks...)
		form.names = append(form.names, field.names...)
		form.post = form.post || field.post
		form.Files = form.Files || field.files
		form.Next = cmp.Or(form.Next, field.next)
		if field.unnamed {
			form.Unnamed++
		}
		if field.action != "" {
			form.actions = append(form.actions, field.action)
		}
	}
	s.fields = nil
	for _, f := range s.forms {
		if f.actions != nil {
			f.resolve(s.base)
		}
	}
}

// resolve finds the names that a form may post: that in an action, otherwise those of its fields.
func (f *formTag) resolve(base *url.URL) {
	var names []string
	plain := false
	f.Action = pathOf(base, f.action)
	for _, action := range f.actions {
		name, ours := actionName(base, action)
		f.Posts = f.Posts || ours
		plain = plain || ours && name == ""
		if name != "" {
			names = append(names, name)
		}
	}
	if plain || !f.Posts {
		names = append(names, f.names...)
	}
	f.names, f.actions = names, nil
}

// listForms lists the forms under each of their names.
func (s *pageScan) listForms() []Form {
	s.assignFields()
	var list []Form
	for _, f := range s.forms {
		one := f.Form
		one.Name = ""
		one.Gets, one.Fields = f.Posts && !f.post, f.asked.list
		one.Source, one.SourceColumn = string(f.text.Text), f.text.Column
		if len(f.names) == 0 && f.Posts {
			one.Name, one.Posts = defaultForm, false
			list = append(list, one)
		}
		for _, name := range f.names {
			if name != "" {
				one.Name = name
				list = append(list, one)
				one.Gets = false
			}
		}
	}
	return list
}

// listTags lists the forms.
func (s *pageScan) listTags() []Tag {
	s.assignFields()
	list := make([]Tag, 0, len(s.forms))
	for _, f := range s.forms {
		one := f.Tag
		one.Source, one.SourceColumn = string(f.text.Text), f.text.Column
		if len(f.names) > 0 {
			one.Name = f.names[0]
		}
		list = append(list, one)
	}
	return list
}

// pathOf returns the decoded path on this site that an action means, "" for an address elsewhere.
func pathOf(base *url.URL, action string) string {
	u, err := url.Parse(sitepath.BrowserURL(action))
	if err != nil {
		return ""
	}
	if u = base.ResolveReference(u); u.Scheme != "" || u.Host != "" || u.Opaque != "" {
		return ""
	}
	return u.Path
}

// actionName reports whether an action is the platform's, and the form's name in it, if it has one.
func actionName(base *url.URL, action string) (name string, ours bool) {
	u, err := url.Parse(sitepath.BrowserURL(action))
	if err != nil || action == "" {
		return "", false
	}
	u = base.ResolveReference(u)
	if u.Scheme != "" || u.Host != "" || u.Opaque != "" {
		return "", false
	}
	rest, ours := strings.CutPrefix(u.Path, formsPath)
	name, below := strings.CutPrefix(rest, "/")
	if !ours || rest != "" && !below || strings.Contains(name, "/") {
		return "", false
	}
	return name, true
}

// mayHoldForm looks for "<form" and "<iframe" in any case.
func mayHoldForm(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 {
			return false
		}
		text = text[i+1:]
		for _, tag := range [...]string{"form", "iframe"} {
			if len(text) >= len(tag) && text[0]|0x20 == tag[0] && strings.EqualFold(string(text[:len(tag)]), tag) {
				return true
			}
		}
	}
}
