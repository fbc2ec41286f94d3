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

// This file turns the schema validator's refusals into messages for people. The schema decides; what is
// written here only explains.

// duplicates reports keys that stand twice, in every object of the document.
func (d *Document) duplicates(p jsontree.Pointer, n *jsontree.Node) {
	for i, item := range n.Items {
		if item.Holds() {
			d.duplicates(p.Index(i), item)
		}
	}
	for i, m := range n.Members {
		if at, _ := n.Find(m.Key); at.First < i {
			line, _ := d.lines.At(n.Members[at.First].At.Start)
			msg := fmt.Sprintf("the key %s stands here a second time, after line %d", sourcetext.Quote(m.Key), line)
			d.Add(diagnostic.Error, diagnostic.CodeDuplicateKey, p, m.At, msg, "keep one of them")
		}
		if m.Value.Holds() {
			d.duplicates(p.Key(sourcetext.WithoutKeys(m.Key)), m.Value)
		}
	}
}

// checkSchema validates the document and explains each refusal, at most one for each value.
func (d *Document) checkSchema() {
	list, err := violations(d.Root)
	if err != nil {
		d.Add(diagnostic.Error, diagnostic.CodeInvalid, "", sourcetext.Span{}, "the schema cannot be used: "+err.Error(), "")
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
		d.explainMissingKey(v.at, n, v.key)
		return
	}
	if d.refused[v.at] {
		return
	}
	if v.kind == "string_lte" && v.at.Kind() == "/runtime/compatibilityDate" {
		v.kind = "format" // says more than the length does
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
		d.Refuse(diagnostic.CodeNotPositive, v.at, fmt.Sprintf("%s is %s, not greater than zero", v.at.Label(), sourcetext.Clip(n.Text)), "set it to 1 or more")
	case "number_lte":
		d.explainCeiling(v.at, n)
	case "enum":
		d.explainEnum(v.at, n)
	default:
		d.explainString(v.at, n, v.kind)
	}
}

// explainType says what a value should have been. want is a type of JSON Schema.
func (d *Document) explainType(p jsontree.Pointer, n *jsontree.Node, want string) {
	if want == "integer" && n.Kind == jsontree.NumberNode {
		d.Refuse(diagnostic.CodeNotInteger, p, fmt.Sprintf("%s is %s, not an integer", p.Label(), sourcetext.Clip(n.Text)), "write a whole number")
		return
	}
	article := "a "
	if strings.ContainsAny(want[:1], "aio") {
		article = "an "
	}
	msg := fmt.Sprintf("%s must be %s, not %s", p.Label(), article+want, n.Kind.Name())
	d.Refuse(diagnostic.CodeWrongType, p, msg, typeFix(p, n, want))
}

// typeFix proposes how to write what p points at. A list of objects has no short form to propose.
func typeFix(p jsontree.Pointer, n *jsontree.Node, want string) string {
	items := described().at(p).Items
	switch {
	case n.Kind == jsontree.NullNode && strings.HasSuffix(p.Kind(), "/*"):
		return "remove it"
	case n.Kind == jsontree.NullNode && p != "" && !required(p):
		return "remove it: what is left out has its default"
	case n.Kind == jsontree.StringNode && isLiteral(n.Text, want):
		return "remove the quotes"
	case want == "object" && p.Kind() == "/routes/*" && n.Kind == jsontree.StringNode && !sourcetext.LooksLikeSecret(n.Text):
		return "write " + routeOf(n.Text)
	case want == "object" && n.Kind == jsontree.BoolNode && strings.HasPrefix(string(p), "/bindings/"):
		return switchFix(n.Text)
	case want == "object" && n.Kind != jsontree.NumberNode && named(n) != "" && (p == "/bindings/kv" || p == "/bindings/storage"):
		return `write {"name": ` + sourcetext.Literal(named(n)) + "}"
	case p.Kind() == "/forms/*" && n.Kind == jsontree.StringNode:
		return formFix(n.Text)
	case p == "/routes" && n.Kind == jsontree.StringNode && !sourcetext.LooksLikeSecret(n.Text):
		return "write a list of objects: [" + routeOf(n.Text) + "]"
	case want == "array" && items != nil && items.Properties != nil:
		return "write a list of objects: [{ … }]"
	case p == "/bindings/secrets":
		return secretsFix(n)
	case (p == "/entry" || p == "/assets") && named(n) != "" && isPath(named(n)):
		return "write " + sourcetext.Literal(named(n))
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

// named is the one thing that a value names which other tools have in a list or an object: the text itself, that
// of the only item, or that of the member which is the folder or the name; "" for none, and for what may be a secret.
func named(n *jsontree.Node) string {
	switch items := n.List(); {
	case n.Kind == jsontree.StringNode:
		if !sourcetext.LooksLikeSecret(n.Text) {
			return n.Text
		}
	case len(items) == 1:
		return named(items[0])
	case n.Kind == jsontree.ObjectNode:
		for _, key := range [...]string{"directory", "public", "publish", "path", "binding"} {
			if v := n.Get(key); v != nil && v.Kind == jsontree.StringNode {
				return named(v)
			}
		}
	}
	return ""
}

// formFix is for a form that is declared by its name alone.
func formFix(text string) string {
	name, hasName := strings.CutPrefix(NameFix(text), `write "`)
	event, hasEvent := strings.CutPrefix(EventFix(text), `write "`)
	if !hasName || !hasEvent {
		return `write {"name": "contact", "event": "custom.contact"}`
	}
	return `write {"name": "` + name + `, "event": "` + event + "}"
}

// secretsFix lists the names of secrets that stand with their values. What stands alone may be a value.
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

// emptyFix says what an empty string is to be. What is required cannot be removed instead.
func emptyFix(p jsontree.Pointer) string {
	switch p.Kind() {
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
func required(p jsontree.Pointer) bool {
	parent, key := p.Parent()
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

func (d *Document) explainCeiling(p jsontree.Pointer, n *jsontree.Node) {
	ceiling := described().at(p).Maximum
	msg := fmt.Sprintf("%s is %s, over the platform ceiling of %d", p.Label(), sourcetext.Clip(n.Text), ceiling)
	d.Refuse(diagnostic.CodeOverCeiling, p, msg, fmt.Sprintf("set it to %d or less", ceiling))
}

func (d *Document) explainEnum(p jsontree.Pointer, n *jsontree.Node) {
	allowed := described().at(p).Enum
	fix := cmp.Or(foreignAccess(p, n.Text), diagnostic.DidYouMean(n.Text, allowed), "use "+sourcetext.OneOf(allowed))
	if p.Kind() == "/runtime/compatibilityFlags/*" {
		d.Refuse(diagnostic.CodeFlagUnknown, p, fmt.Sprintf("the platform does not accept the compatibility flag %s", sourcetext.Quote(n.Text)), fix)
		return
	}
	d.Refuse(diagnostic.CodeUnknownValue, p, fmt.Sprintf("%s is %s, which is none of %s", p.Label(), sourcetext.Quote(n.Text), strings.Join(sourcetext.QuoteAll(allowed), ", ")), fix)
}

// foreignAccess is the fix for other words for who may see a route.
func foreignAccess(p jsontree.Pointer, word string) string {
	if p.Kind() != "/routes/*/access" {
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
func (d *Document) explainString(p jsontree.Pointer, n *jsontree.Node, kind string) {
	switch p.Kind() {
	case "/routes/*/pattern":
		d.explainPattern(p, n.Text)
	case "/forms/*/name":
		fix := cmp.Or(NameFix(n.Text), "use lowercase letters, digits, - and _")
		d.Refuse(diagnostic.CodeFormName, p, fmt.Sprintf("the form name %s has other characters than lowercase letters, digits, - and _", sourcetext.Quote(n.Text)), fix)
	case "/forms/*/event":
		d.Refuse(diagnostic.CodeFormEvent, p, fmt.Sprintf(`the event %s is not "custom." and a lowercase name of letters, digits and underscores`, sourcetext.Quote(n.Text)), EventFix(n.Text))
	case "/runtime/compatibilityDate":
		msg := fmt.Sprintf("compatibilityDate is %s, not a calendar day written YYYY-MM-DD", sourcetext.Quote(n.Text))
		d.Refuse(diagnostic.CodeDateInvalid, p, msg, `write year, month and day in digits, such as "2026-12-31"`)
	default:
		d.Refuse(diagnostic.CodeInvalid, p, fmt.Sprintf("%s breaks the schema's rule %q", p.Label(), kind), "write it as `pages schema` describes it")
	}
}

// explainMissingKey reports a required key at the object that lacks it.
func (d *Document) explainMissingKey(p jsontree.Pointer, n *jsontree.Node, key string) {
	what := "the route"
	if strings.HasPrefix(string(p), "/forms/") {
		what = "the form"
	}
	d.Add(diagnostic.Error, diagnostic.CodeMissingKey, p, n.Span, fmt.Sprintf("%s has no %q", what, key), fmt.Sprintf("add %q", key))
}
