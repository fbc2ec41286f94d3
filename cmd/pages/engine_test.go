package main

import (
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// engines are the engines that a site must run in alike.
var engines = []string{siteworker.BuiltIn, siteworker.Workerd}

// withEngine has the commands of a test run Workers in an engine.
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
