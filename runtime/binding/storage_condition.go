package binding

import (
	"strings"
)

// Conditions say when a get or a put is to happen. Times are milliseconds
// since 1970. The zero value, and nil, always hold.
type Conditions struct {
	// Match and NoneMatch are bare entity tags, or "*".
	Match     string `json:"etagMatches"`
	NoneMatch string `json:"etagDoesNotMatch"`
	// IfMatch and IfNoneMatch are lists in the form of those headers.
	IfMatch     string `json:"ifMatch"`
	IfNoneMatch string `json:"ifNoneMatch"`
	Before      *int64 `json:"uploadedBefore"`
	After       *int64 `json:"uploadedAfter"`
	// Seconds compares times by whole seconds, as headers give them.
	Seconds bool `json:"secondsGranularity"`
}

// hold reports whether the conditions hold for o, which is nil when there is
// no object. A time is not looked at when the entity tags asked for decide
// (RFC 9110, section 13.2.2).
func (c *Conditions) hold(o *Object) (bool, *StorageError) {
	if c == nil {
		return true, nil
	}
	match, matchErr := tagsOf(c.Match, c.IfMatch)
	noneMatch, noneErr := tagsOf(c.NoneMatch, c.IfNoneMatch)
	if matchErr != nil || noneErr != nil {
		return false, &StorageError{Code: codeInvalidArgument, Text: "A conditional header is not a list of entity tags."}
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

// has reports whether etag is in the list; weak tags count only in a weak
// comparison.
func (t tags) has(etag string, weak bool) bool {
	for _, one := range t {
		if one.any || one.value == etag && (weak || !one.weak) {
			return true
		}
	}
	return false
}

// tagsOf is the list of one bare tag, or of a header; nil when there is neither.
func tagsOf(bare, header string) (tags, error) {
	switch {
	case bare == "*":
		return tags{{any: true}}, nil
	case bare != "":
		return tags{{value: bare}}, nil
	case header == "":
		return nil, nil
	}
	return parseTags(header)
}

// parseTags reads a list of entity tags (RFC 9110, section 8.8.3); empty
// elements are allowed between its commas.
func parseTags(list string) (tags, error) {
	found := tags{}
	for rest := strings.TrimSpace(list); rest != ""; {
		if after, ok := strings.CutPrefix(rest, ","); ok {
			rest = strings.TrimLeft(after, " \t")
			continue
		}
		one, after, err := parseTag(rest)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
		if rest = strings.TrimLeft(after, " \t"); rest != "" && rest[0] != ',' {
			return nil, errTags
		}
	}
	return found, nil
}

func parseTag(text string) (one tag, rest string, _ error) {
	if rest, ok := strings.CutPrefix(text, "*"); ok {
		return tag{any: true}, rest, nil
	}
	text, weak := strings.CutPrefix(text, "W/")
	text, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return tag{}, "", errTags
	}
	value, rest, ok := strings.Cut(text, `"`)
	if !ok {
		return tag{}, "", errTags
	}
	return tag{value: value, weak: weak}, rest, nil
}
