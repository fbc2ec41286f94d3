package toolapi_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

const aSite = `"site_id": "123e4567-e89b-42d3-a456-426614174000"`

// TestCheckDeclare has the refusals that the body of a declare alone decides.
func TestCheckDeclare(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	file := func(more string) string {
		return `{` + aSite + `, "manifest": {}, "files": [{"path": "a", "sha256": "` + hash + `", ` + more + `}]}`
	}
	for body, want := range map[string]string{
		file(`"size": 1`): "", file(`"size": 1e3`): "", file(`"size": 0, "content_type": "text/css"`): "",
		`{` + aSite + `, "manifest": {"anything": [1]}, "files": []}`:                                                      "",
		`{` + aSite + `, "manifest": {}, "files": [], "base_revision": null}`:                                              "",
		`{` + aSite + `, "manifest": {}, "files": [], "base_revision": "r1-abc", "client": {"name": "x", "version": "1"}}`: "",

		file(`"size": -1`): "files.0.size", file(`"size": 1.5`): "files.0.size", file(`"size": "5"`): "files.0.size",
		file(`"size": 9007199254740993`): "files.0.size", file(`"size": null`): "files.0.size",
		file(`"size": 1, "mode": 1`): "files.0.mode", file(`"size": 1, "content_type": "a\nb"`): "files.0.content_type",
		`{}`: "files manifest site_id",
		`{` + aSite +
			`, "manifest": [], "files": {}, "extra": 1}`: "extra files manifest",
		`{` + aSite +
			`, "manifest": null, "files": null, "client": null, "base_revision": 5}`: "base_revision client files manifest",
		`{` + aSite + `, "manifest": {}, "files": [], "client": {"name": "x", "version": "1", "os": ""}}`:                 "client.os",
		`{` + aSite + `, "manifest": {}, "files": [{"path": "a", "sha256": "` + strings.ToUpper(hash) + `", "size": 1}]}`: "files.0.sha256",
	} {
		t.Run(strings.TrimPrefix(strings.ReplaceAll(body, hash, "…"), "{"+aSite+`, "manifest": `), func(t *testing.T) {
			_, issues, err := toolapi.ParseDeclare([]byte(body))
			if err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			var got []string
			for _, issue := range issues {
				got = append(got, issue.Path)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: want %q, got %q", body, want, got)
			}
			sameDeclare(t, body)
		})
	}
}

// sameDeclare holds the reading of a declare to that of any body.
func sameDeclare(t *testing.T, body string) {
	t.Helper()
	args, issues, err := toolapi.ParseDeclare([]byte(body))
	o, errSlow := toolapi.ParseObject([]byte(body))
	if fmt.Sprint(err) != fmt.Sprint(errSlow) {
		t.Fatalf("%q: %v, as any body: %v", body, err, errSlow)
	}
	if err != nil {
		return
	}
	slow := o.CheckDeclare()
	if !slices.Equal(issues, slow) {
		t.Fatalf("%q: %v, as any body: %v", body, issues, slow)
	}
	if len(slow) > 0 {
		return
	}
	var want toolapi.DeclareArgs
	if err := o.Decode(&want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(args, want) {
		t.Errorf("%q:\n%+v, as any body:\n%+v", body, args, want)
	}
}

// FuzzParseDeclare reads files written in every way.
func FuzzParseDeclare(f *testing.F) {
	hash := strings.Repeat("0a", 32)
	for _, file := range []string{
		`{"path": "a", "sha256": "` + hash + `", "size": 1}`,
		`{"size":1e3,"path":"\u0061/b","content_type":"text/css","sha256":"` + hash + `"}`,
		` { "path" : "ä" , "sha256" : "` + hash + `" , "size" : 0 } , {"path":"b","sha256":"` + hash + `","size":20000,"content_type":"a"}`,
		`{"path":"a","path":"b","sha256":"` + hash + `","size":1}`, `{"path":"a","sha256":"` + hash + `","size":01}`,
		`{"path":"a","sha256":"` + hash + `","size":-0}`,
		`{"path":"a","sha256":"` + hash + `","size":9007199254740992}`, `{"path":"a","sha256":"` + hash + `","size":1,"content_type":""}`,
		`{"path":"a","sha256":"` + hash[1:] + `","size":1}`, `{"path":5,"sha256":"` + hash + `","size":1}`,
		`{"path":"\ud800","sha256":"` + hash + `","size":1}`,
		`{"path":"a","sha256":"` + hash + `","size":1,}`, `{}`, `[]`, `{"path":"a"}`, ``, `null`,
		"{\"path\":\"\xff\",\"sha256\":\"" + hash + "\",\"size\":1}",
	} {
		for _, list := range []string{"[" + file + "]", file} {
			f.Add(`{` + aSite + `, "manifest": {}, "files": ` + list + `}`)
			f.Add(`{"files": ` + list + `, "manifest": {"a":[{}]}, ` + aSite + `, "base_revision": null} `)
		}
		f.Add(`{` + aSite + `, "manifest": {}, "\u0066iles": [` + file + `]}`)
		f.Add(`{` + aSite + `, "manifest": {}, "files": [` + file + `], "files": []}`)
		f.Add(`{` + aSite + `, "manifest": {}, "files": [` + file + `]} {}`)
	}
	f.Fuzz(func(t *testing.T, body string) { sameDeclare(t, body) })
}

func TestCheckPreviewLink(t *testing.T) {
	for life, ok := range map[string]bool{
		"60": true, "604800": true, "59": false, "604801": false, `"60"`: false, "-1": false, "60.5": false,
		"null": false,
	} {
		t.Run(life, func(t *testing.T) {
			o, err := toolapi.ParseObject([]byte(`{` + aSite + `, "expires_in_seconds": ` + life + `}`))
			if err != nil {
				t.Fatal(err)
			}
			if issues := o.CheckPreviewLink(); len(issues) == 0 != ok {
				t.Errorf("%s: %v", life, issues)
			}
		})
	}
}

func TestBaseRevisionHasThreeStates(t *testing.T) {
	for text, want := range map[string]toolapi.BaseRevision{
		`{}`: {}, `{"base_revision":null}`: toolapi.Expect(""), `{"base_revision":"r1-abc"}`: toolapi.Expect("r1-abc"),
	} {
		var args struct {
			BaseRevision toolapi.BaseRevision `json:"base_revision,omitzero"`
		}
		if err := json.Unmarshal([]byte(text), &args); err != nil || args.BaseRevision != want {
			t.Errorf("%s: %+v %v", text, args, err)
		}
		if back, err := json.Marshal(args); err != nil || string(back) != text {
			t.Errorf("%s became %s, %v", text, back, err)
		}
	}
}

// TestPagesErrorIsExact holds the envelope to section 7.3 and the statuses to the
// protocol's table.
func TestPagesErrorIsExact(t *testing.T) {
	body, err := json.Marshal(toolapi.NewPagesError("upload_closed", "No."))
	if err != nil || string(body) != `{"ok":false,"error":{"code":"upload_closed","message":"No."}}` {
		t.Errorf("%s %v", body, err)
	}
	waiting := toolapi.PagesErrorOf(toolapi.NewError(toolapi.CodeRateLimited, "Wait.").After(3))
	if body, err = json.Marshal(waiting); err != nil ||
		string(body) != `{"ok":false,"error":{"code":"tenant_mcp.rate_limited","message":"Wait.","retry_after_seconds":3}}` {
		t.Errorf("%s %v", body, err)
	}
	for status, codes := range map[int][]string{
		400: {"tenant_api.malformed_body", "invalid_arguments", "digest_malformed"}, 401: {"tenant_api.unauthorized"},
		403: {"tenant_api.access_missing", "tenant_mcp.surface_disabled"}, 404: {"upload_not_found", "site_not_found", "blob_not_listed"},
		409: {"blobs_missing", "revision_conflict", "upload_closed", "too_many_uploads", "too_many_previews"},
		410: {"upload_expired"}, 411: {"length_required"},
		413: {"file_too_large", "bundle_too_large", "body_too_large"}, 415: {"encoding_unsupported"},
		422: {
			"manifest_invalid", "secret_in_output", "path_traversal", "path_secret", "file_count_exceeded",
			"size_mismatch", "digest_mismatch", "encoding_invalid", "workspace_ambiguous", "workspace_unreachable",
		},
		429: {"tenant_mcp.rate_limited"}, 503: {"unavailable"}, 507: {"storage_full"}, 500: {"tenant_api.internal"},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			for _, code := range codes {
				if got := toolapi.NewPagesError(code, "").Status; got != status {
					t.Errorf("%s: want %d, got %d", code, status, got)
				}
			}
		})
	}
	if !slices.Contains([]int{500, 422}, toolapi.PagesStatus("unheard_of")) {
		t.Error("an unknown code")
	}
}
