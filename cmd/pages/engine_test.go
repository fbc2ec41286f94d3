package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// engines are the engines in which a site must behave alike.
var engines = []string{siteworker.BuiltIn, siteworker.Workerd}

// withEngine makes the commands of a test run Workers in an engine.
func withEngine(t *testing.T, engine string) {
	t.Helper()
	t.Setenv("PAGES_ENGINE", engine)
	if engine == siteworker.Workerd {
		withWorkerd(t)
	}
}

// withWorkerd names the workerd of the test sites to the commands of a test.
func withWorkerd(t *testing.T) {
	t.Helper()
	program, err := workerd.Find(t.Context(), workerd.Places{Site: filepath.Join(sites, "workerd")})
	if err != nil {
		testmachine.Lacks(t, "workerd: make site", err)
	}
	t.Setenv(workerd.Variable, program.Path)
}

// inWorkerd reports whether the commands of a test run Workers in workerd.
func inWorkerd() bool { return os.Getenv("PAGES_ENGINE") == siteworker.Workerd }

// TestPackagesInWorkerd: packages answer in workerd as in the built-in engine.
func TestPackagesInWorkerd(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(t *testing.T)
		long bool
	}{
		{name: "crypto", test: TestCryptoPackages},
		{name: "stores", test: TestStorePackages},
		{name: "views", test: TestViewPackages},
		{name: "clients", test: TestClientPackages, long: true},
		{name: "data", test: TestDataPackages, long: true},
		{name: "http", test: TestHTTPPackages, long: true},
		{name: "intl", test: TestIntlPackages, long: true},
		{name: "markup", test: TestMarkupPackages, long: true},
		{name: "more", test: TestMorePackages, long: true},
		{name: "node", test: TestNodePackages, long: true},
		{name: "servers", test: TestServerPackages, long: true},
		{name: "wasm", test: TestWasmPackages, long: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long {
				testmachine.Long(t)
			}
			withEngine(t, siteworker.Workerd)
			c.test(t)
		})
	}
}
