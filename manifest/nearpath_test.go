package manifest_test

import (
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

func TestNearPaths(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // one line each, as found writes it
	}{
		"paths in another case": {
			files: map[string]string{
				"pages.deploy.json": `{"entry":"SRC/W.js","assets":"Public","bindings":{"database":{"migrations":"DB/migration"}}}`,
				"src/w.js":          "", "public/index.html": "", "db/migrations/1_a.sql": "",
			},
			want: `error path-not-found :1:10 /entry: entry names "SRC/W.js", which does not exist; did you mean "src/w.js"?
error path-not-found :1:30 /assets: assets names "Public", which does not exist; did you mean "public"?
error path-not-found :1:76 /bindings/database/migrations: migrations names "DB/migration", which does not exist;
	did you mean "db/migrations"?
`,
		},
		"names that say what makes the files": {
			files: map[string]string{"pages.deploy.json": `{"entry":".open-next/worker.js","assets":"node_modules/explorer/dashboard"}`},
			want: "error path-not-found :1:10 /entry: entry names \".open-next/worker.js\", which does not exist; run `npx " +
				"opennextjs-cloudflare build`, or correct the path\n" +
				"error path-not-found :1:42 /assets: assets names \"node_modules/explorer/dashboard\", which does not exist; install " +
				"the packages, or correct the path\n",
		},
		"short names are not near": {
			files: map[string]string{
				"pages.deploy.json": `{"entry":"b","assets":"ab"}`,
				"a":                 "", "ac/": "",
			},
			want: `error path-not-found :1:10 /entry: entry names "b", which does not exist; create or build it, or correct the path
error path-not-found :1:23 /assets: assets names "ab", which does not exist; create or build it, or correct the path
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := validate.Load(tree(c.files), manifest.FileName)
			if got, want := found(diags), unfolded(c.want); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
