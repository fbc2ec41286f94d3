package host

import (
	"errors"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// TestFlagsOfAnEarlierRelease: an earlier version of the service accepted a revision with these flags. The service refuses to publish it
// now, and never runs it without its flags.
func TestFlagsOfAnEarlierRelease(t *testing.T) {
	const config = `{"compatibility_flags": ["streams"]}`
	store, err := blob.Open(t.TempDir(), func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	files := store.Space(1)
	if _, err := files.Put(digest(config), int64(len(config)), strings.NewReader(config)); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.New([]byte(`{}`), []sitefile.File{{Path: "wrangler.json", SHA256: digest(config), Size: int64(len(config))}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = withRuntimeFlags(service.Release{Bundle: b, Files: files})
	refused, ok := errors.AsType[*service.ReleaseError](err)
	if !ok || refused.Code != toolapi.CodeWorkerFailed ||
		!strings.HasPrefix(
			refused.Message,
			`The Worker could not be started. wrangler.json is invalid: the platform does not accept the compatibility flag "streams"`,
		) {
		t.Errorf("got %v", err)
	}
}
