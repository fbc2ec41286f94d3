package toolapi_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file keeps the interface that clients were generated from (platform document, section 9.3). A
// property may go 90 days after its deprecation, when removable lists it with its day.

// removable are the names that the breaks below may mention, with the day of their deprecation.
var removable = map[string]string{}

// TestOpenAPICompatible holds the document to the golden one, which -update would
// replace.
func TestOpenAPICompatible(t *testing.T) {
	old, current := recorded(t), document(t)
	for _, broken := range breaks(old, current) {
		if _, allowed := removable[broken]; !allowed {
			t.Errorf("%s: a client that was generated before would fail", broken)
		}
	}
}

// breaks lists the changes that break a client of the old document.
func breaks(old, current map[string]any) (all []string) {
	for path, methods := range object(old, "paths") {
		for method := range object(map[string]any{"": methods}, "") {
			all = append(
				all,
				operationBreaks(path+" "+method, object(old, "paths", path, method), object(current, "paths", path, method))...,
			)
		}
	}
	for name, schema := range object(old, "components", "schemas") {
		now := object(current, "components", "schemas", name)
		if now == nil {
			all = append(all, name+" is gone")
			continue
		}
		was, _ := schema.(map[string]any)
		if strings.HasSuffix(name, ".arguments") {
			all = append(all, narrowed(name, was, now)...)
		} else {
			all = append(all, widened(name, was, now)...)
		}
	}
	slices.Sort(all)
	return all
}

// operationBreaks lists the changes that break a caller of an operation.
func operationBreaks(name string, was, now map[string]any) (all []string) {
	if now == nil {
		return []string{name + " is gone"}
	}
	for status := range object(was, "responses") {
		if object(now, "responses")[status] == nil {
			all = append(all, name+" answers no more with "+status)
		}
	}
	for kind := range object(was, "requestBody", "content") {
		if object(now, "requestBody", "content")[kind] == nil {
			all = append(all, name+" takes no more "+kind)
		}
	}
	if object(now, "requestBody")["required"] == true && object(was, "requestBody")["required"] != true {
		all = append(all, name+" needs a body now")
	}
	before, after := parameters(was), parameters(now)
	for parameter := range before {
		if _, there := after[parameter]; !there {
			all = append(all, name+" takes no more "+parameter)
		}
	}
	for parameter, needed := range after {
		if needed && !before[parameter] {
			all = append(all, name+" needs "+parameter+" now")
		}
	}
	return all
}

// parameters are those of an operation, and whether each is required.
func parameters(operation map[string]any) map[string]bool {
	all := map[string]bool{}
	values, _ := operation["parameters"].([]any)
	for _, value := range values {
		p, _ := value.(map[string]any)
		all[fmt.Sprint(p["in"], " ", p["name"])] = p["required"] == true
	}
	return all
}

// narrowed are ways in which less may be sent.
func narrowed(path string, was, now map[string]any) (all []string) {
	for name, property := range object(was, "properties") {
		p := object(now, "properties", name)
		if p == nil {
			all = append(all, path+"."+name+" is gone")
			continue
		}
		before, _ := property.(map[string]any)
		all = append(all, narrowed(path+"."+name, before, p)...)
	}
	for _, name := range list(now["required"]) {
		if !slices.Contains(list(was["required"]), name) {
			all = append(all, path+"."+name+" is required now")
		}
	}
	for _, value := range list(was["enum"]) {
		if now["enum"] != nil && !slices.Contains(list(now["enum"]), value) {
			all = append(all, path+" takes no more "+value)
		}
	}
	for _, limit := range []string{"type", "pattern", "maxLength", "minLength", "maximum", "minimum", "maxItems", "const"} {
		if now[limit] != nil && fmt.Sprint(now[limit]) != fmt.Sprint(was[limit]) {
			all = append(all, fmt.Sprintf("%s has %s %v now", path, limit, now[limit]))
		}
	}
	return all
}

// widened are ways in which less, or something else, is answered.
func widened(path string, was, now map[string]any) (all []string) {
	for name, property := range object(was, "properties") {
		p := object(now, "properties", name)
		if object(now, "properties")[name] == nil {
			all = append(all, path+"."+name+" is gone")
			continue
		}
		before, _ := property.(map[string]any)
		all = append(all, widened(path+"."+name, before, p)...)
	}
	for _, name := range list(was["required"]) {
		if !slices.Contains(list(now["required"]), name) {
			all = append(all, path+"."+name+" may be missing now")
		}
	}
	for _, value := range list(now["enum"]) {
		if was["enum"] != nil && !slices.Contains(list(was["enum"]), value) {
			all = append(all, path+" may be "+value+" now")
		}
	}
	if was["type"] != nil && fmt.Sprint(was["type"]) != fmt.Sprint(now["type"]) {
		all = append(all, fmt.Sprintf("%s is %v now", path, now["type"]))
	}
	if items := object(was, "items"); items != nil {
		all = append(all, widened(path+"[]", items, object(now, "items"))...)
	}
	either, _ := was["oneOf"].([]any)
	for i, one := range either {
		before, _ := one.(map[string]any)
		after, _ := now["oneOf"].([]any)
		if i >= len(after) {
			return append(all, path+" has fewer forms now")
		}
		form, _ := after[i].(map[string]any)
		all = append(all, widened(fmt.Sprintf("%s/%d", path, i), before, form)...)
	}
	return all
}

func object(from map[string]any, path ...string) map[string]any {
	for _, name := range path {
		from, _ = from[name].(map[string]any)
	}
	return from
}

func list(v any) (all []string) {
	values, _ := v.([]any)
	for _, value := range values {
		all = append(all, fmt.Sprint(value))
	}
	return all
}

// TestBreaks: the check finds breaking changes, and lets additions pass.
func TestBreaks(t *testing.T) {
	for _, c := range []struct {
		change func(all map[string]any)
		want   string
	}{
		{func(map[string]any) {}, ""},
		{func(all map[string]any) { delete(object(all, "paths"), "/api/v1/tools/page.list") }, "/api/v1/tools/page.list post is gone"},
		{
			func(all map[string]any) { delete(object(all, "paths", toolapi.UploadPath("{upload_id}")), "get") },
			toolapi.UploadPath("{upload_id}") + " get is gone",
		},
		{func(all map[string]any) {
			delete(object(all, "paths", toolapi.ImportsPath, "post", "requestBody", "content"), "application/zip")
		}, "takes no more application/zip"},
		{func(all map[string]any) {
			object(all, "paths", toolapi.FinalizePath("{upload_id}"), "post", "requestBody")["required"] = true
		}, "needs a body now"},
		{func(all map[string]any) {
			given, _ := object(all, "paths", toolapi.ImportsPath, "post")["parameters"].([]any)
			for _, parameter := range given {
				object(map[string]any{"": parameter}, "")["required"] = true
			}
		}, "needs query workspace now"},
		{
			func(all map[string]any) { object(all, "paths", toolapi.ImportsPath, "post")["parameters"] = []any{} },
			"takes no more header Idempotency-Key",
		},
		{func(all map[string]any) {
			delete(object(all, "paths", "/api/v1/tools/page.list", "post", "responses"), "429")
		}, "answers no more with 429"},
		{
			func(all map[string]any) { delete(properties(all, "content.status.result"), "truncated") },
			"content.status.result.truncated is gone",
		},
		{
			func(all map[string]any) { delete(properties(all, "content.status.arguments"), "limit") },
			"content.status.arguments.limit is gone",
		},
		{func(all map[string]any) {
			object(all, "components", "schemas", "content.status.arguments")["required"] = []any{"limit"}
		}, "content.status.arguments.limit is required now"},
		{
			func(all map[string]any) { object(properties(all, "content.status.arguments"), "limit")["maximum"] = 50 },
			"content.status.arguments.limit has maximum 50 now",
		},
		{func(all map[string]any) {
			object(properties(all, "content.status.arguments"), "status")["enum"] = []any{"draft"}
		}, "content.status.arguments.status takes no more failed"},
		{func(all map[string]any) {
			object(all, "components", "schemas", "content.status.result")["required"] = []any{}
		}, "content.status.result.pieces may be missing now"},
		{
			func(all map[string]any) { object(properties(all, "content.status.result"), "total")["type"] = "string" },
			"content.status.result.total is string now",
		},
		{func(all map[string]any) {
			properties(all, "content.status.result")["more"] = map[string]any{"type": "string"}
		}, ""},
		{func(all map[string]any) {
			properties(all, "content.status.arguments")["more"] = map[string]any{"type": "string"}
		}, ""},
	} {
		t.Run(cmp.Or(c.want, "no break"), func(t *testing.T) {
			current := document(t)
			c.change(current)
			got := strings.Join(breaks(document(t), current), "; ")
			if !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

func properties(all map[string]any, schema string) map[string]any {
	return object(all, "components", "schemas", schema, "properties")
}

// document is the OpenAPI document of this contract.
func document(t *testing.T) map[string]any {
	t.Helper()
	text, err := toolapi.NewContract().OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, text)
}

// recorded is the golden document from before a run with -update.
func recorded(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, text)
}

func parsed(t *testing.T, text []byte) (all map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}
