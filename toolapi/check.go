package toolapi

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// check validates a value against a schema and returns all faults; jsonschema-go's own validator
// stops at the first. It supports the keywords that scalar.go and jsonschema.For use; a test
// compares its verdicts with the validator's.
func check(s *jsonschema.Schema, v any, path string) (issues []Issue) {
	if problem := typeProblem(s, v); problem != "" {
		return []Issue{{path, problem}}
	}
	if s.Const != nil && v != *s.Const {
		return []Issue{{path, fmt.Sprintf("must be %v", *s.Const)}}
	}
	if s.Enum != nil && !slices.Contains(s.Enum, v) {
		return []Issue{{path, "must be one of " + strings.Join(texts(s.Enum), ", ")}}
	}
	switch v := v.(type) {
	case map[string]any:
		return checkObject(s, v, path)
	case []any:
		if s.MaxItems != nil && len(v) > *s.MaxItems {
			return []Issue{{path, fmt.Sprintf("must have at most %d items", *s.MaxItems)}}
		}
		for i, item := range v {
			issues = append(issues, check(s.Items, item, join(path, strconv.Itoa(i)))...)
		}
	case string:
		return checkText(s, v, path)
	case float64:
		switch {
		case s.Minimum != nil && v < *s.Minimum:
			return []Issue{{path, fmt.Sprintf("must be at least %.0f", *s.Minimum)}}
		case s.Maximum != nil && v > *s.Maximum:
			return []Issue{{path, fmt.Sprintf("must be at most %.0f", *s.Maximum)}}
		}
	}
	return issues
}

func typeProblem(s *jsonschema.Schema, v any) string {
	got := "null"
	switch v := v.(type) {
	case map[string]any:
		got = "object"
	case []any:
		got = "array"
	case string:
		got = "string"
	case bool:
		got = "boolean"
	case float64:
		got = "number"
		if s.Type == "integer" && v == math.Trunc(v) {
			got = "integer"
		}
	}
	if s.Type == "" && (s.Types == nil || slices.Contains(s.Types, got)) || got == s.Type || got == "integer" && s.Type == "number" {
		return ""
	}
	if s.Type == "" {
		return "must be " + strings.Join(s.Types, " or ")
	}
	article := "a"
	if strings.ContainsAny(s.Type[:1], "aio") {
		article = "an"
	}
	return fmt.Sprintf("must be %s %s", article, s.Type)
}

func checkObject(s *jsonschema.Schema, v map[string]any, path string) (issues []Issue) {
	names := slices.Collect(maps.Keys(v))
	for _, name := range s.Required {
		if _, there := v[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value, there := v[name]
		property, known := s.Properties[name]
		switch {
		case !there:
			issues = append(issues, Issue{join(path, name), "is required"})
		case known:
			issues = append(issues, check(property, value, join(path, name))...)
		case s.AdditionalProperties == nil: // any object passes
		default:
			const longest = 64 // characters, so that a made-up name does not fill the response
			if utf8.RuneCountInString(name) > longest {
				name = string([]rune(name)[:longest]) + "…"
			}
			issues = append(issues, Issue{
				join(path, name), "is unknown; known are: " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "),
			})
		}
	}
	return issues
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// patterns caches compiled patterns: there are few, all of scalar.go.
var patterns sync.Map

func checkText(s *jsonschema.Schema, v, path string) []Issue {
	n := utf8.RuneCountInString(v)
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		return []Issue{{path, "must not be empty"}}
	case s.MaxLength != nil && n > *s.MaxLength:
		return []Issue{{path, fmt.Sprintf("must have at most %d characters", *s.MaxLength)}}
	case s.Pattern == "":
		return nil
	}
	compiled, ok := patterns.Load(s.Pattern)
	if !ok {
		compiled, _ = patterns.LoadOrStore(s.Pattern, regexp.MustCompile(s.Pattern))
	}
	if re, ok := compiled.(*regexp.Regexp); !ok || re.MatchString(v) {
		return nil
	}
	example := s.Pattern
	switch {
	case s.Format == "uuid":
		example = "a UUID, such as 123e4567-e89b-42d3-a456-426614174000"
	case s.Format == "hostname":
		example = "a host name in lower case, such as www.example.com"
	case strings.HasPrefix(s.Pattern, "^[0-9]{4}-"):
		example = "a date, such as 2026-11-23"
	}
	return []Issue{{path, "must look like " + example}}
}

// CheckUUID returns the faults of a UUID outside a body, at a path.
func CheckUUID(text, path string) []Issue {
	return checkText(scalars()[reflect.TypeFor[UUID]()], text, path)
}
