package htmlforms

import "strings"

// This file finds the names under which the controls of a form send answers.

// fieldNames are names, each once.
type fieldNames struct {
	list []string
	seen map[string]bool
}

// add reports how many of the names are new.
func (n *fieldNames) add(names ...string) (added int) {
	for _, name := range names {
		if n.seen[name] {
			continue
		}
		if n.seen == nil {
			n.seen = map[string]bool{}
		}
		n.seen[name] = true
		n.list = append(n.list, name)
		added++
	}
	return added
}

// answerNames returns the names of the answers that a control may send.
func answerNames(tag, kind string, attr map[string]string) []string {
	name := attr["name"]
	switch {
	case name == "", tag == "option", tag == "input" && (kind == "button" || kind == "reset"),
		tag == "button" && (kind == "button" || kind == "reset"):
		return nil
	case tag == "input" && kind == "image":
		return []string{name + ".x", name + ".y"}
	}
	names := []string{name}
	if direction := attr["dirname"]; direction != "" && (tag == "input" || tag == "textarea") {
		names = append(names, direction)
	}
	return names
}

// ask adds the names of a plain control to its form. Controls of a form elsewhere on the page, and controls with a special
// meaning, wait for the end of the page.
func (s *pageScan) ask(attr map[string]string, names []string) {
	switch {
	case len(names) == 0:
	case has(attr, "form"):
		*s.kept++
		s.fields = append(s.fields, &formField{id: attr["form"], elsewhere: true, asks: names})
	case s.open != nil:
		*s.kept += s.open.asked.add(names...)
	}
}

// Fields returns the names of the answers that each form asks for, by the form's name and in lower case, in which columns of a
// table are compared. Forms with the same name count as one.
func Fields(forms []Form) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, f := range forms {
		asked := all[f.Name]
		if asked == nil {
			asked = map[string]bool{}
			all[f.Name] = asked
		}
		for _, name := range f.Fields {
			asked[strings.ToLower(name)] = true
		}
	}
	return all
}
