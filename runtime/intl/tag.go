package intl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// tag is a Unicode BCP 47 locale identifier (UTS 35, part 1, section 3), in lower case except for the script and region.
type tag struct {
	language, script, region string
	variants                 []string
	attributes               []string  // of -u-
	keywords                 []keyword // of -u-
	transform                *tag      // the language of -t-; nil for none
	fields                   []keyword // of -t-
	others                   []string  // further extensions: "a-foo-bar"
	private                  string    // "x-…"; "" for none
}

type keyword struct{ key, value string }

// keyword returns the value of a -u- key; "" for none.
func (t *tag) keyword(key string) (string, bool) {
	for _, k := range t.keywords {
		if k.key == key {
			return k.value, true
		}
	}
	return "", false
}

// setKeyword adds or replaces a -u- keyword; the list stays sorted.
func (t *tag) setKeyword(key, value string) {
	at, found := slices.BinarySearchFunc(t.keywords, key, func(k keyword, key string) int { return strings.Compare(k.key, key) })
	if found {
		t.keywords[at].value = value
		return
	}
	t.keywords = slices.Insert(t.keywords, at, keyword{key, value})
}

func parseTag(text string) (*tag, error) {
	p := tagParser{rest: strings.Split(strings.ToLower(text), "-")}
	t := &tag{}
	if !p.language(t) || !p.extensions(t) {
		return nil, rangeError("Incorrect locale information provided: \"" + text + "\" is not a well-formed language tag")
	}
	t.canonicalize()
	return t, nil
}

// tagParser takes subtags off the front.
type tagParser struct{ rest []string }

func (p *tagParser) peek() string {
	if len(p.rest) == 0 {
		return ""
	}
	return p.rest[0]
}

func (p *tagParser) next() string {
	s := p.rest[0]
	p.rest = p.rest[1:]
	return s
}

// language takes unicode_language_id.
func (p *tagParser) language(t *tag) bool {
	s := p.peek()
	if n := len(s); !alphabetic(s) || n < 2 || n == 4 || n > 8 {
		return false
	}
	t.language = p.next()
	if s := p.peek(); len(s) == 4 && alphabetic(s) {
		t.script = title(p.next())
	}
	if s := p.peek(); len(s) == 2 && alphabetic(s) || len(s) == 3 && numeric(s) {
		t.region = strings.ToUpper(p.next())
	}
	for isVariant(p.peek()) {
		v := p.next()
		if slices.Contains(t.variants, v) {
			return false
		}
		t.variants = append(t.variants, v)
	}
	return true
}

func isVariant(s string) bool {
	return len(s) >= 5 && len(s) <= 8 && alphanumeric(s) || len(s) == 4 && s[0] >= '0' && s[0] <= '9' && alphanumeric(s)
}

func (p *tagParser) extensions(t *tag) bool {
	seen := ""
	for len(p.rest) > 0 {
		s := p.next()
		if len(s) != 1 || !alphanumeric(s) || strings.Contains(seen, s) {
			return false
		}
		seen += s
		ok := false
		switch s {
		case "u":
			ok = p.unicode(t)
		case "t":
			ok = p.transformation(t)
		case "x":
			t.private = "x-" + strings.Join(p.rest, "-")
			ok = len(p.rest) > 0 && !slices.ContainsFunc(p.rest, func(s string) bool { return !sized(s, 1, 8) })
			p.rest = nil
		default:
			list := p.run(2)
			t.others = append(t.others, s+"-"+strings.Join(list, "-"))
			ok = len(list) > 0
		}
		if !ok {
			return false
		}
	}
	return true
}

// run takes subtags of low to eight letters and digits.
func (p *tagParser) run(low int) []string {
	var out []string
	for sized(p.peek(), low, 8) {
		out = append(out, p.next())
	}
	return out
}

func (p *tagParser) unicode(t *tag) bool {
	t.attributes = p.run(3)
	found := len(t.attributes) > 0
	for {
		s := p.peek()
		if len(s) != 2 || !alphanumeric(s) || !alphabetic(s[1:]) {
			return found
		}
		found = true
		key := p.next()
		value := strings.Join(p.run(3), "-")
		if _, twice := t.keyword(key); !twice {
			t.keywords = append(t.keywords, keyword{key, value})
		}
	}
}

func (p *tagParser) transformation(t *tag) bool {
	if s := p.peek(); alphabetic(s) && len(s) > 1 {
		t.transform = &tag{}
		if !p.language(t.transform) {
			return false
		}
	}
	for {
		s := p.peek()
		if len(s) != 2 || !alphabetic(s[:1]) || !numeric(s[1:]) {
			return t.transform != nil || len(t.fields) > 0
		}
		key := p.next()
		value := p.run(3)
		if len(value) == 0 {
			return false
		}
		t.fields = append(t.fields, keyword{key, strings.Join(value, "-")})
	}
}

func sized(s string, low, high int) bool {
	return len(s) >= low && len(s) <= high && alphanumeric(s)
}

func every(s string, ok func(c byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return s != ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func alphabetic(s string) bool { return every(s, isLetter) }
func numeric(s string) bool    { return every(s, isDigit) }
func alphanumeric(s string) bool {
	return every(s, func(c byte) bool { return isLetter(c) || isDigit(c) })
}

func title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
}

func (t *tag) base() string {
	parts := []string{t.language}
	for _, s := range []string{t.script, t.region} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(append(parts, t.variants...), "-")
}

// String is the tag in canonical form.
func (t *tag) String() string {
	extensions := slices.Clone(t.others)
	if t.transform != nil || len(t.fields) > 0 {
		parts := []string{"t"}
		if t.transform != nil {
			parts = append(parts, strings.ToLower(t.transform.base()))
		}
		extensions = append(extensions, strings.Join(append(parts, joinKeywords(t.fields)...), "-"))
	}
	if len(t.attributes) > 0 || len(t.keywords) > 0 {
		parts := append([]string{"u"}, t.attributes...)
		extensions = append(extensions, strings.Join(append(parts, joinKeywords(t.keywords)...), "-"))
	}
	slices.Sort(extensions)
	if t.private != "" {
		extensions = append(extensions, t.private)
	}
	return strings.Join(append([]string{t.base()}, extensions...), "-")
}

func joinKeywords(list []keyword) []string {
	var out []string
	for _, k := range list {
		out = append(out, k.key)
		if k.value != "" {
			out = append(out, k.value)
		}
	}
	return out
}

// canonicalize does UTS 35, part 1, annex C.
func (t *tag) canonicalize() {
	t.replaceSubtags()
	slices.Sort(t.variants)
	slices.Sort(t.attributes)
	t.attributes = slices.Compact(t.attributes)
	byKey := func(a, b keyword) int { return strings.Compare(a.key, b.key) }
	slices.SortStableFunc(t.keywords, byKey)
	slices.SortStableFunc(t.fields, byKey)
	for i := range t.keywords {
		t.keywords[i].value = canonicalValue("u", t.keywords[i])
	}
	for i := range t.fields {
		t.fields[i].value = canonicalValue("t", t.fields[i])
	}
	if t.transform != nil {
		t.transform.replaceSubtags()
		slices.Sort(t.transform.variants)
	}
}

// canonicalValue is the preferred spelling of a keyword's value.
func canonicalValue(extension string, k keyword) string {
	value := k.value
	if (k.key == "rg" || k.key == "sd") && extension == "u" { // a subdivision
		if to, ok := cldr.Aliases().Find("subdivision/" + value); ok {
			value, _, _ = strings.Cut(strings.ToLower(to), " ")
			if len(value) == 2 {
				value += "zzzz"
			}
		}
		return value
	}
	if preferred, ok := cldr.Aliases().Find(extension + "/" + k.key + "/" + value); ok {
		value = preferred
	}
	if value == "true" && extension == "u" {
		return ""
	}
	return value
}

// replaceSubtags replaces deprecated languages, scripts, regions and variants.
func (t *tag) replaceSubtags() {
	for range 4 { // a replacement may itself be replaced, some times
		if !t.replaceLanguage() {
			break
		}
	}
	if to, ok := cldr.Aliases().Find("script/" + t.script); ok && t.script != "" {
		t.script = to
	}
	if to, ok := cldr.Aliases().Find("territory/" + t.region); ok && t.region != "" {
		// A region that was split becomes the likely one of its successors, otherwise the first.
		regions := strings.Fields(to)
		whole := tag{language: t.language, script: t.script}
		whole.maximize()
		t.region = regions[max(slices.Index(regions, whole.region), 0)]
	}
	for i, v := range t.variants {
		if to, ok := cldr.Aliases().Find("variant/" + v); ok {
			t.variants[i] = to
		}
	}
}

// replaceLanguage applies the most specific rule of the language aliases that fits.
func (t *tag) replaceLanguage() bool {
	var rules []string
	for _, language := range []string{t.language, "und"} {
		rules = append(rules, language+"-"+strings.Join(t.variants, "-"))
		for _, v := range t.variants {
			rules = append(rules, language+"-"+v)
		}
	}
	if t.region != "" {
		rules = append(rules, t.language+"-"+t.region)
	}
	for _, rule := range append(rules, t.language) {
		to, ok := cldr.Aliases().Find("language/" + rule)
		if !ok || rule == "und" {
			continue
		}
		t.replaceBy(rule, to)
		return true
	}
	return false
}

// replaceBy replaces the subtags of rule by those of to.
func (t *tag) replaceBy(rule, to string) {
	var into tag
	p := tagParser{rest: strings.Split(strings.ToLower(to), "-")}
	if !p.language(&into) {
		return
	}
	used := strings.Split(rule, "-")
	t.variants = slices.DeleteFunc(t.variants, func(v string) bool { return slices.Contains(used[1:], v) })
	if slices.Contains(used[1:], t.region) {
		t.region = ""
	}
	if into.language != "und" {
		t.language = into.language
	}
	t.script, t.region = cmp.Or(t.script, into.script), cmp.Or(t.region, into.region)
	for _, v := range into.variants {
		if !slices.Contains(t.variants, v) {
			t.variants = append(t.variants, v)
		}
	}
}

// maximize adds the likely subtags (UTS 35, part 1, section 4.3).
func (t *tag) maximize() bool {
	if t.language != "und" && t.script != "" && t.region != "" {
		return true
	}
	for _, key := range [][3]string{
		{t.language, t.script, t.region},
		{t.language, "", t.region},
		{t.language, t.script, ""},
		{t.language, "", ""},
		{"und", t.script, ""},
	} {
		if key == [3]string{"und"} && t.language != "und" {
			continue
		}
		from := tag{language: key[0], script: key[1], region: key[2]}
		value, ok := cldr.Likely().Find(from.base())
		var to tag
		p := tagParser{rest: strings.Split(strings.ToLower(value), "-")}
		if !ok || !p.language(&to) {
			continue
		}
		if t.language == "und" {
			t.language = to.language
		}
		t.script, t.region = cmp.Or(t.script, to.script), cmp.Or(t.region, to.region)
		return true
	}
	return false
}

// minimize removes the subtags that maximize would add.
func (t *tag) minimize() {
	whole := tag{language: t.language, script: t.script, region: t.region}
	if !whole.maximize() {
		return
	}
	for _, try := range []tag{
		{language: whole.language},
		{language: whole.language, region: whole.region},
		{language: whole.language, script: whole.script},
		whole,
	} {
		back := try
		if back.maximize() && back.base() == whole.base() {
			t.language, t.script, t.region = try.language, try.script, try.region
			return
		}
	}
}
