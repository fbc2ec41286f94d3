package manifest

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// htmlForm is a form of a page that posts to the platform.
type htmlForm struct {
	name  string
	file  string
	lines *lines
	at    span // of the start tag
}

// findForms lists the forms of an HTML page that carry a form name, by their action or by a field "form".
// Broken HTML is read as far as a browser's tokenizer would.
func findForms(file, src string) []htmlForm {
	if !strings.Contains(strings.ToLower(src), "<form") {
		return nil
	}
	var list []htmlForm
	var open *htmlForm
	where := newLines(src)
	z := html.NewTokenizer(strings.NewReader(src))
	for offset := 0; z.Next() != html.ErrorToken; {
		at := span{offset, offset + len(z.Raw())}
		offset = at.end
		t := z.Token()
		switch {
		case t.DataAtom == atom.Form && t.Type == html.StartTagToken:
			open = &htmlForm{name: actionName(attribute(t, "action")), file: file, lines: where, at: at}
		case t.DataAtom == atom.Form && t.Type == html.EndTagToken:
			open = nil
		case open != nil && t.DataAtom == atom.Input && attribute(t, "name") == "form":
			if open.name == "" {
				open.name = attribute(t, "value")
			}
		}
		if open != nil && open.name != "" && open.lines != nil {
			list = append(list, *open)
			open.lines = nil // listed
		}
	}
	return list
}

// actionName is the form's name in an action such as "/__pages/forms/contact", "" when it has none.
func actionName(action string) string {
	action, _, _ = strings.Cut(strings.TrimSpace(action), "?")
	if name, ok := strings.CutPrefix(action, formsPath+"/"); ok && !strings.Contains(name, "/") {
		return name
	}
	return ""
}

func attribute(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
