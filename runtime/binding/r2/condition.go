package r2

import "strings"

// Conditions restrict a get or a put. Times are milliseconds since 1970. The zero value, and nil,
// always hold.
type Conditions struct {
	// Match and NoneMatch are bare entity tags, or "*"; an empty one is a tag that no object has.
	Match     *string `json:"etagMatches"`
	NoneMatch *string `json:"etagDoesNotMatch"`
	// IfMatch and IfNoneMatch are lists in the form of those headers.
	IfMatch     *string `json:"ifMatch"`
	IfNoneMatch *string `json:"ifNoneMatch"`
	Before      *int64  `json:"uploadedBefore"`
	After       *int64  `json:"uploadedAfter"`
	// Seconds compares times by whole seconds, as headers give them.
	Seconds bool `json:"secondsGranularity"`
}

// hold reports whether the conditions hold for o, which is nil when there is no object. Entity tags decide before times
// (RFC 9110, section 13.2.2).
func (c *Conditions) hold(o *Object) (bool, *Error) {
	if c == nil {
		return true, nil
	}
	match, err := tagsOf(c.Match, "if-match", c.IfMatch)
	if err != nil {
		return false, err
	}
	noneMatch, err := tagsOf(c.NoneMatch, "if-none-match", c.IfNoneMatch)
	if err != nil {
		return false, err
	}
	if o == nil {
		return match == nil && c.After == nil, nil
	}
	matched := match == nil || match.has(o.ETag, false)
	differs := noneMatch == nil || !noneMatch.has(o.ETag, true)
	uploaded := c.instant(o.Uploaded)
	after := c.After == nil || c.instant(*c.After) < uploaded || noneMatch != nil && differs
	before := c.Before == nil || uploaded < c.instant(*c.Before) || match != nil && matched
	return matched && differs && after && before, nil
}

func (c *Conditions) instant(ms int64) int64 {
	if c.Seconds {
		return ms / 1000
	}
	return ms
}

// tag is an entity tag without its quotes; "*" unquoted is any.
type tag struct {
	value     string
	weak, any bool
}

type tags []tag

// has reports whether etag is in the list; weak tags count only in a weak comparison.
func (t tags) has(etag string, weak bool) bool {
	for _, one := range t {
		if one.any || one.value == etag && (weak || !one.weak) {
			return true
		}
	}
	return false
}

// tagsOf is the list of one bare tag, or of a header; nil when there is neither.
func tagsOf(bare *string, name string, header *string) (tags, *Error) {
	switch {
	case bare != nil && *bare == "*":
		return tags{{any: true}}, nil
	case bare != nil:
		return tags{{value: *bare}}, nil
	case header == nil:
		return nil, nil
	}
	found, err := parseTags(*header)
	if err == nil && len(found) == 0 {
		err = &Error{Text: "Invalid ETag in " + name + " header"}
	}
	return found, err
}

// parseTags reads a list of entity tags (RFC 9110, section 8.8.3) as R2 does: empty elements are allowed between its commas,
// "*" means all others, and the list ends at the first character that begins no tag. R2 refuses a malformed header before it
// asks the service: the error has no code.
func parseTags(list string) (tags, *Error) {
	found := tags{}
	comma := true // since the last tag
	for rest := strings.TrimLeft(list, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		kind, ok := tagKinds[rest[0]]
		switch {
		case rest[0] == ',':
			rest, comma = rest[1:], true
			continue
		case !ok:
			return found, nil
		case !comma:
			return nil, &Error{Text: "Comma was expected to separate etags. Encountered a " + kind}
		case rest[0] == '*':
			return tags{{any: true}}, nil
		}
		quoted, weak := strings.CutPrefix(rest, "W/")
		quoted, ok = strings.CutPrefix(quoted, `"`)
		if !ok {
			return nil, &Error{Text: "Weak etags must start with W/ and their value must be quoted"}
		}
		value, after, ok := strings.Cut(quoted, `"`)
		if !ok {
			return nil, &Error{Text: "Unclosed double quote for Etag"}
		}
		found, rest, comma = append(found, tag{value: value, weak: weak}), after, false
	}
	return found, nil
}

// tagKinds are the characters that begin a tag, in R2's words.
var tagKinds = map[byte]string{
	'*': "wildcard character '*' instead.",
	'W': "weak quotation character 'W' instead. This would otherwise indicate the start of a new weak etag.",
	'"': "double quote character '\"' instead. This would otherwise indicate the start of a new strong etag.",
}
