package toolapi_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// TestAppendFiles holds the quick writer to encoding/json.
func TestAppendFiles(t *testing.T) {
	lists := map[string][]toolapi.UploadFile{
		"none": {}, "one": {{Path: "public/a.txt", SHA256: toolapi.Digest(strings.Repeat("0", 64)), Size: 7, ContentType: "text/plain"}},
		"no type": {{Path: "a"}, {Path: "b", Size: 1 << 40}},
		"to be quoted": {
			{Path: `a"b\c<d>&e`},
			{Path: "ä\u2028\u007f\t"},
			{Path: "\xff\x00"},
			{ContentType: "text/html; charset=\"utf-8\""},
		},
	}
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			if got := toolapi.AppendFiles([]byte("x"), list); string(got) != "x"+string(want) {
				t.Errorf("got %s\nwant %s", got[1:], want)
			}
		})
	}
}

// TestDeclareArgsEncode reads the output of Encode.
func TestDeclareArgsEncode(t *testing.T) {
	files := []toolapi.UploadFile{{Path: "public/<a>.txt", SHA256: "s", Size: 7, ContentType: "text/plain"}, {Path: "b"}}
	for name, args := range map[string]toolapi.DeclareArgs{
		"whole": {
			SiteID: "s", BaseRevision: toolapi.Expect("r1"), Manifest: json.RawMessage(`{"files":[]}`), Files: files,
			Client: &toolapi.UploadClient{Name: "pages", Version: "1"}, Scope: toolapi.Scope{Workspace: "acme"},
		},
		"least": {Manifest: json.RawMessage(`{}`), Files: []toolapi.UploadFile{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := args.Encode()
			if err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			var one, other map[string]any
			if err := json.Unmarshal(got, &one); err != nil {
				t.Fatalf("%v: %s", err, got)
			}
			if err := json.Unmarshal(want, &other); err != nil || !reflect.DeepEqual(one, other) {
				t.Errorf("got %s\nwant %s", got, want)
			}
			if n := bytes.Count(got, []byte(`"files":[`)); n != 1+strings.Count(string(args.Manifest), `"files":[`) {
				t.Errorf("%d lists: %s", n, got)
			}
		})
	}
}
