package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file turns the schema validator's refusals into messages for people. The schema decides; what is
// written here only explains.

// duplicates reports keys that stand twice, in every object of the document.
func (d *document) duplicates(p pointer, n *node) {
	for i, item := range n.items {
		if item.holds() {
			d.duplicates(p.index(i), item)
		}
	}
	for i, m := range n.members {
		if at, _ := n.find(m.key); at.first < i {
			line, _ := d.lines.at(n.members[at.first].at.start)
			msg := fmt.Sprintf("the key %s stands here a second time, after line %d", quote(m.key), line)
			d.add(Error, codeDuplicateKey, p, m.at, msg, "keep one of them")
		}
		if m.value.holds() {
			d.duplicates(p.key(withoutKeys(m.key)), m.value)
		}
	}
}

// checkSchema validates the document and explains each refusal, at most one for each value.
func (d *document) checkSchema() {
	list, err := violations(d.root)
	if err != nil {
		d.add(Error, codeInvalid, "", span{}, "the schema cannot be used: "+err.Error(), "")
		return
	}
	slices.SortStableFunc(list, func(a, b violation) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(rank(a.kind), rank(b.kind)))
	})
	for _, v := range list {
		d.explain(v)
	}
}

// rank orders the refusals of one value: what says most comes first and is the one reported.
func rank(kind string) int {
	return slices.Index([]string{"invalid_type", "enum", "string_gte", "string_lte", "pattern", "format"}, kind)
}

func (d *document) explain(v violation) {
	n := d.root.resolve(v.at)
	if n == nil || n.kind == badNode {
		return
	}
	switch v.kind {
	case "additional_property_not_allowed":
		d.explainUnknownKey(v.at, n, v.key)
		return
	case "required":
		d.explainMissingKey(v.at, n, v.key)
		return
	}
	if d.refused[v.at] {
		return
	}
	if v.kind == "string_lte" && v.at.kind() == "/runtime/compatibilityDate" {
		v.kind = "format" // says more than the length does
	}
	switch v.kind {
	case "invalid_type":
		d.explainType(v.at, n, v.want)
	case "string_gte":
		d.refuse(codeTooShort, v.at, v.at.label()+" is empty", emptyFix(v.at))
	case "string_lte":
		msg := fmt.Sprintf("%s is %d characters long, over the limit of %s", v.at.label(), utf8.RuneCountInString(n.text), v.want)
		d.refuse(codeTooLong, v.at, msg, "shorten it to "+v.want+" characters")
	case "number_gte", "number_gt":
		d.refuse(codeNotPositive, v.at, fmt.Sprintf("%s is %s, not greater than zero", v.at.label(), clip(n.text)), "set it to 1 or more")
	case "number_lte":
		d.explainCeiling(v.at, n)
	case "enum":
		d.explainEnum(v.at, n)
	default:
		d.explainString(v.at, n, v.kind)
	}
}

// explainType says what a value should have been. want is a type of JSON Schema.
func (d *document) explainType(p pointer, n *node, want string) {
	if want == "integer" && n.kind == numberNode {
		d.refuse(codeNotInteger, p, fmt.Sprintf("%s is %s, not an integer", p.label(), clip(n.text)), "write a whole number")
		return
	}
	article := "a "
	if strings.ContainsAny(want[:1], "aio") {
		article = "an "
	}
	msg := fmt.Sprintf("%s must be %s, not %s", p.label(), article+want, n.kind.name())
	d.refuse(codeWrongType, p, msg, typeFix(p, n, want))
}

// typeFix proposes how to write what p points at. A list of objects has no short form to propose.
func typeFix(p pointer, n *node, want string) string {
	items := described().at(p).Items
	switch {
	case n.kind == nullNode && strings.HasSuffix(p.kind(), "/*"):
		return "remove it"
	case n.kind == nullNode && p != "" && !required(p):
		return "remove it: what is left out has its default"
	case n.kind == stringNode && isLiteral(n.text, want):
		return "remove the quotes"
	case want == "object" && p.kind() == "/routes/*" && n.kind == stringNode && !looksLikeSecret(n.text):
		return "write " + routeOf(n.text)
	case want == "object" && n.kind == boolNode && strings.HasPrefix(string(p), "/bindings/"):
		return switchFix(n.text)
	case want == "object" && n.kind != numberNode && named(n) != "" && (p == "/bindings/kv" || p == "/bindings/storage"):
		return `write {"name": ` + literal(named(n)) + "}"
	case p.kind() == "/forms/*" && n.kind == stringNode:
		return formFix(n.text)
	case p == "/routes" && n.kind == stringNode && !looksLikeSecret(n.text):
		return "write a list of objects: [" + routeOf(n.text) + "]"
	case want == "array" && items != nil && items.Properties != nil:
		return "write a list of objects: [{ … }]"
	case p == "/bindings/secrets":
		return secretsFix(n)
	case (p == "/entry" || p == "/assets") && named(n) != "" && isPath(named(n)):
		return "write " + literal(named(n))
	case want == "array" && n.kind == stringNode && items != nil && items.Enum != nil && !slices.Contains(items.Enum, n.text):
		return "write a list of " + oneOf(items.Enum)
	case want == "array" && n.kind == stringNode:
		return "put it in brackets: [" + literal(n.text) + "]"
	case n.kind == numberNode && want == "string":
		return "put it in double quotes"
	}
	return map[string]string{
		"array": "write a list: [ … ]", "object": "write { … }", "string": "write text in double quotes",
		"integer": "write a whole number", "boolean": "write true or false",
	}[want]
}

// named is the one thing that a value names which other tools have in a list or an object: the text itself, that
// of the only item, or that of the member which is the folder or the name; "" for none, and for what may be a secret.
func named(n *node) string {
	switch items := n.list(); {
	case n.kind == stringNode:
		if !looksLikeSecret(n.text) {
			return n.text
		}
	case len(items) == 1:
		return named(items[0])
	case n.kind == objectNode:
		for _, key := range [...]string{"directory", "public", "publish", "path", "binding"} {
			if v := n.get(key); v != nil && v.kind == stringNode {
				return named(v)
			}
		}
	}
	return ""
}

// formFix is for a form that is declared by its name alone.
func formFix(text string) string {
	name, hasName := strings.CutPrefix(nameFix(text), `write "`)
	event, hasEvent := strings.CutPrefix(eventFix(text), `write "`)
	if !hasName || !hasEvent {
		return `write {"name": "contact", "event": "custom.contact"}`
	}
	return `write {"name": "` + name + `, "event": "` + event + "}"
}

// secretsFix lists the names of secrets that stand with their values. What stands alone may be a value.
func secretsFix(n *node) string {
	var names []string
	for _, m := range n.members {
		if looksLikeSecret(m.key) {
			return "write a list of names: [ … ]"
		}
		names = append(names, literal(m.key))
	}
	if len(names) == 0 {
		return "write a list of names: [ … ]"
	}
	return "write [" + strings.Join(names, ", ") + "] and set the values on the site"
}

// emptyFix says what an empty string is to be. What is required cannot be removed instead.
func emptyFix(p pointer) string {
	switch p.kind() {
	case "/routes/*/pattern":
		return `write a path such as "/api/*"`
	case "/forms/*/event":
		return `write an event such as "custom.contact"`
	}
	if required(p) {
		return "give it at least one character"
	}
	return "give it at least one character, or remove it"
}

// required reports whether the object that p is in may not be without it.
func required(p pointer) bool {
	parent, key := p.parent()
	return slices.Contains(described().at(parent).Required, key)
}

// isLiteral reports whether a string holds what would be of the wanted type without its quotes.
func isLiteral(text, want string) bool {
	if want == "boolean" {
		return text == "true" || text == "false"
	}
	return want == "integer" && text != "" && strings.Trim(text, "0123456789") == "" && (text == "0" || text[0] != '0')
}

// switchFix is for who switches a binding on or off: it is there as soon as it is declared.
func switchFix(text string) string {
	if text == "false" {
		return "remove it: what is not declared is not there"
	}
	return "write {}: what is declared is there"
}

func (d *document) explainCeiling(p pointer, n *node) {
	ceiling := described().at(p).Maximum
	msg := fmt.Sprintf("%s is %s, over the platform ceiling of %d", p.label(), clip(n.text), ceiling)
	d.refuse(codeOverCeiling, p, msg, fmt.Sprintf("set it to %d or less", ceiling))
}

func (d *document) explainEnum(p pointer, n *node) {
	allowed := described().at(p).Enum
	fix := cmp.Or(foreignAccess(p, n.text), didYouMean(n.text, allowed), "use "+oneOf(allowed))
	if p.kind() == "/runtime/compatibilityFlags/*" {
		d.refuse(codeFlagUnknown, p, fmt.Sprintf("the platform does not accept the compatibility flag %s", quote(n.text)), fix)
		return
	}
	d.refuse(codeUnknownValue, p, fmt.Sprintf("%s is %s, which is none of %s", p.label(), quote(n.text), strings.Join(quoteAll(allowed), ", ")), fix)
}

// foreignAccess is the fix for other words for who may see a route.
func foreignAccess(p pointer, word string) string {
	if p.kind() != "/routes/*/access" {
		return ""
	}
	switch strings.ToLower(word) {
	case "private", "protected", "restricted", "internal", "auth", "authenticated", "login", "signed-in", "user", "users":
		return `did you mean "members"?`
	case "open", "anonymous", "anyone", "everyone", "all", "*":
		return `did you mean "public"?`
	default:
		return ""
	}
}

// explainString explains a string that does not match the pattern or format of its place.
func (d *document) explainString(p pointer, n *node, kind string) {
	switch p.kind() {
	case "/routes/*/pattern":
		d.explainPattern(p, n.text)
	case "/forms/*/name":
		fix := cmp.Or(nameFix(n.text), "use lowercase letters, digits, - and _")
		d.refuse(codeFormName, p, fmt.Sprintf("the form name %s has other characters than lowercase letters, digits, - and _", quote(n.text)), fix)
	case "/forms/*/event":
		d.refuse(codeFormEvent, p, fmt.Sprintf(`the event %s is not "custom." and a lowercase name of letters, digits and underscores`, quote(n.text)), eventFix(n.text))
	case "/runtime/compatibilityDate":
		msg := fmt.Sprintf("compatibilityDate is %s, not a calendar day written YYYY-MM-DD", quote(n.text))
		d.refuse(codeDateInvalid, p, msg, `write year, month and day in digits, such as "2026-12-31"`)
	default:
		d.refuse(codeInvalid, p, fmt.Sprintf("%s breaks the schema's rule %q", p.label(), kind), "write it as `pages schema` describes it")
	}
}

// explainMissingKey reports a required key at the object that lacks it.
func (d *document) explainMissingKey(p pointer, n *node, key string) {
	what := "the route"
	if strings.HasPrefix(string(p), "/forms/") {
		what = "the form"
	}
	d.add(Error, codeMissingKey, p, n.span, fmt.Sprintf("%s has no %q", what, key), fmt.Sprintf("add %q", key))
}
