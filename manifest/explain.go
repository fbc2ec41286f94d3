package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file turns the schema validator's violations into messages for people. The schema alone decides.

// checkDuplicateKeys reports repeated keys of every object in the document.
func (d *Document) checkDuplicateKeys(p jsontree.Pointer, n *jsontree.Node) {
	for i, item := range n.Items {
		if item.Holds() {
			d.checkDuplicateKeys(p.Index(i), item)
		}
	}
	for i, m := range n.Members {
		if at, _ := n.Find(m.Key); at.First < i {
			line, _ := d.lines.At(n.Members[at.First].At.Start)
			msg := fmt.Sprintf("the key %s is here a second time, after line %d", sourcetext.Quote(m.Key), line)
			d.Add(diagnostic.Error, diagnostic.CodeDuplicateKey, p, m.At, msg, "keep one of them")
		}
		if m.Value.Holds() {
			d.checkDuplicateKeys(p.Key(sourcetext.WithoutKeys(m.Key)), m.Value)
		}
	}
}

// checkSchema validates the document and explains each violation, at most one for each value: the most telling kind.
func (d *Document) checkSchema() {
	list, err := violations(d.Root)
	if err != nil {
		d.Add(diagnostic.Error, diagnostic.CodeInvalid, "", sourcetext.Span{}, "the schema cannot be used: "+err.Error(), "")
		return
	}
	kinds := []string{"invalid_type", "enum", "string_gte", "string_lte", "pattern", "format"} // most telling first
	slices.SortStableFunc(list, func(a, b violation) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(slices.Index(kinds, a.kind), slices.Index(kinds, b.kind)))
	})
	for _, v := range list {
		d.explain(v)
	}
}

func (d *Document) explain(v violation) {
	n := d.Root.Resolve(v.at)
	if n == nil || n.Kind == jsontree.BadNode {
		return
	}
	switch v.kind {
	case "additional_property_not_allowed":
		d.explainUnknownKey(v.at, n, v.key)
		return
	case "required":
		what := "the route"
		if strings.HasPrefix(string(v.at), "/forms/") {
			what = "the form"
		}
		d.Add(diagnostic.Error, diagnostic.CodeMissingKey, v.at, n.Span,
			fmt.Sprintf("%s has no %q", what, v.key), fmt.Sprintf("add %q", v.key))
		return
	}
	if d.refused[v.at] {
		return
	}
	if v.kind == "string_lte" && v.at.Kind() == "/runtime/compatibilityDate" {
		v.kind = "format" // more specific than the length
	}
	switch v.kind {
	case "invalid_type":
		d.explainType(v.at, n, v.want)
	case "string_gte":
		d.Refuse(diagnostic.CodeTooShort, v.at, v.at.Label()+" is empty", emptyFix(v.at))
	case "string_lte":
		msg := fmt.Sprintf("%s is %d characters long, over the limit of %s", v.at.Label(), utf8.RuneCountInString(n.Text), v.want)
		d.Refuse(diagnostic.CodeTooLong, v.at, msg, "shorten it to "+v.want+" characters")
	case "number_gte", "number_gt":
		msg := fmt.Sprintf("%s is %s, not greater than zero", v.at.Label(), sourcetext.Clip(n.Text))
		d.Refuse(diagnostic.CodeNotPositive, v.at, msg, "set it to 1 or more")
	case "number_lte":
		ceiling := described().at(v.at).Maximum
		msg := fmt.Sprintf("%s is %s, over the platform ceiling of %d", v.at.Label(), sourcetext.Clip(n.Text), ceiling)
		d.Refuse(diagnostic.CodeOverCeiling, v.at, msg, fmt.Sprintf("set it to %d or less", ceiling))
	case "enum":
		d.explainEnum(v.at, n)
	default:
		d.explainString(v.at, n, v.kind)
	}
}

// explainType reports a value of the wrong type. want is a type of JSON Schema.
func (d *Document) explainType(p jsontree.Pointer, n *jsontree.Node, want string) {
	if want == "integer" && n.Kind == jsontree.NumberNode {
		msg := fmt.Sprintf("%s is %s, not an integer", p.Label(), sourcetext.Clip(n.Text))
		d.Refuse(diagnostic.CodeNotInteger, p, msg, "write a whole number")
		return
	}
	article := "a "
	if strings.ContainsAny(want[:1], "aio") {
		article = "an "
	}
	msg := fmt.Sprintf("%s must be %s, not %s", p.Label(), article+want, n.Kind.Name())
	d.Refuse(diagnostic.CodeWrongType, p, msg, typeFix(p, n, want))
}

// typeFix proposes the form of the value that p points at. For a list of objects it proposes nothing.
func typeFix(p jsontree.Pointer, n *jsontree.Node, want string) string {
	items := described().at(p).Items
	switch {
	case n.Kind == jsontree.NullNode && strings.HasSuffix(p.Kind(), "/*"):
		return "remove it"
	case n.Kind == jsontree.NullNode && p != "" && !isRequired(p):
		return "remove it: the default applies then"
	case n.Kind == jsontree.StringNode && isLiteral(n.Text, want):
		return "remove the quotes"
	case want == "object" && p.Kind() == "/routes/*" && n.Kind == jsontree.StringNode && !sourcetext.LooksLikeSecret(n.Text):
		return "write " + routeOf(n.Text)
	case want == "object" && n.Kind == jsontree.BoolNode && strings.HasPrefix(string(p), "/bindings/"):
		if n.Text == "false" {
			return "remove it: without the declaration there is no binding"
		}
		return "set it to {} to declare the binding"
	case want == "object" && n.Kind != jsontree.NumberNode && soleName(n) != "" && (p == "/bindings/kv" || p == "/bindings/storage"):
		return `write {"name": ` + sourcetext.Literal(soleName(n)) + "}"
	case p.Kind() == "/forms/*" && n.Kind == jsontree.StringNode: // declared by its name alone
		name, hasName := strings.CutPrefix(NameFix(n.Text), `write "`)
		event, hasEvent := strings.CutPrefix(EventFix(n.Text), `write "`)
		if !hasName || !hasEvent {
			return `write {"name": "contact", "event": "custom.contact"}`
		}
		return `write {"name": "` + name + `, "event": "` + event + "}"
	case p == "/routes" && n.Kind == jsontree.StringNode && !sourcetext.LooksLikeSecret(n.Text):
		return "write a list of objects: [" + routeOf(n.Text) + "]"
	case want == "array" && items != nil && items.Properties != nil:
		return "write a list of objects: [{ … }]"
	case p == "/bindings/secrets":
		return secretsFix(n)
	case (p == "/entry" || p == "/assets") && soleName(n) != "" && isPath(soleName(n)):
		return "write " + sourcetext.Literal(soleName(n))
	case want == "array" && n.Kind == jsontree.StringNode && items != nil && items.Enum != nil && !slices.Contains(items.Enum, n.Text):
		return "write a list of " + sourcetext.OneOf(items.Enum)
	case want == "array" && n.Kind == jsontree.StringNode:
		return "put it in brackets: [" + sourcetext.Literal(n.Text) + "]"
	case n.Kind == jsontree.NumberNode && want == "string":
		return "put it in double quotes"
	}
	return map[string]string{
		"array": "write a list: [ … ]", "object": "write { … }", "string": "write text in double quotes",
		"integer": "write a whole number", "boolean": "write true or false",
	}[want]
}

// soleName returns the single name in a value that other tools write as a list or an object: the text itself, the only
// item, or the member for a folder or name; "" for none, and for a possible secret.
func soleName(n *jsontree.Node) string {
	switch items := n.List(); {
	case n.Kind == jsontree.StringNode:
		if !sourcetext.LooksLikeSecret(n.Text) {
			return n.Text
		}
	case len(items) == 1:
		return soleName(items[0])
	case n.Kind == jsontree.ObjectNode:
		for _, key := range [...]string{"directory", "public", "publish", "path", "binding"} {
			if v := n.Get(key); v != nil && v.Kind == jsontree.StringNode {
				return soleName(v)
			}
		}
	}
	return ""
}

// secretsFix lists the names of secrets that are keys of an object. It does not repeat a bare string, which may be a value.
func secretsFix(n *jsontree.Node) string {
	var names []string
	for _, m := range n.Members {
		if sourcetext.LooksLikeSecret(m.Key) {
			return "write a list of names: [ … ]"
		}
		names = append(names, sourcetext.Literal(m.Key))
	}
	if len(names) == 0 {
		return "write a list of names: [ … ]"
	}
	return "write [" + strings.Join(names, ", ") + "] and set the values on the site"
}

func emptyFix(p jsontree.Pointer) string {
	switch p.Kind() {
	case "/routes/*/pattern":
		return `write a path such as "/api/*"`
	case "/forms/*/event":
		return `write an event such as "custom.contact"`
	}
	if isRequired(p) {
		return "give it at least one character"
	}
	return "give it at least one character, or remove it"
}

// isRequired reports whether the schema requires the key p in its object.
func isRequired(p jsontree.Pointer) bool {
	parent, key := p.Parent()
	return slices.Contains(described().at(parent).Required, key)
}

// isLiteral reports whether a string would be of the wanted type without its quotes.
func isLiteral(text, want string) bool {
	if want == "boolean" {
		return text == "true" || text == "false"
	}
	return want == "integer" && text != "" && strings.Trim(text, "0123456789") == "" && (text == "0" || text[0] != '0')
}

func (d *Document) explainEnum(p jsontree.Pointer, n *jsontree.Node) {
	allowed := described().at(p).Enum
	fix := cmp.Or(diagnostic.DidYouMean(n.Text, allowed), "use "+sourcetext.OneOf(allowed))
	quoted := sourcetext.Quote(n.Text)
	switch p.Kind() {
	case "/runtime/compatibilityFlags/*":
		d.Refuse(diagnostic.CodeFlagUnknown, p, "the platform does not accept the compatibility flag "+quoted, fix)
		return
	case "/routes/*/access":
		switch strings.ToLower(n.Text) {
		case "private", "protected", "restricted", "internal", "auth", "authenticated", "login", "signed-in", "user", "users":
			fix = `did you mean "members"?`
		case "open", "anonymous", "anyone", "everyone", "all", "*":
			fix = `did you mean "public"?`
		}
	}
	msg := fmt.Sprintf("%s is %s, not one of %s", p.Label(), quoted, strings.Join(sourcetext.QuoteAll(allowed), ", "))
	d.Refuse(diagnostic.CodeUnknownValue, p, msg, fix)
}

// explainString reports a string that does not match the pattern or format of its place.
func (d *Document) explainString(p jsontree.Pointer, n *jsontree.Node, kind string) {
	quoted := sourcetext.Quote(n.Text)
	switch p.Kind() {
	case "/routes/*/pattern":
		d.explainPattern(p, n.Text)
	case "/forms/*/name":
		msg := fmt.Sprintf("the form name %s has characters other than lowercase letters, digits, - and _", quoted)
		d.Refuse(diagnostic.CodeFormName, p, msg, cmp.Or(NameFix(n.Text), "use lowercase letters, digits, - and _"))
	case "/forms/*/event":
		msg := fmt.Sprintf(`the event %s is not "custom." and a lowercase name of letters, digits and underscores`, quoted)
		d.Refuse(diagnostic.CodeFormEvent, p, msg, EventFix(n.Text))
	case "/runtime/compatibilityDate":
		msg := fmt.Sprintf("compatibilityDate is %s, not a calendar day written YYYY-MM-DD", quoted)
		d.Refuse(diagnostic.CodeDateInvalid, p, msg, `write year, month and day in digits, such as "2026-12-31"`)
	default:
		msg := fmt.Sprintf("%s breaks the schema's rule %q", p.Label(), kind)
		d.Refuse(diagnostic.CodeInvalid, p, msg, "write it as `pages schema` describes it")
	}
}
