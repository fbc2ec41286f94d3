package node_test

import (
	"path/filepath"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestTables compares every module, function by function, with Node.js: testdata/<module>.txt has code and results.
func TestTables(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { table(t, file, "", pagesruntime.WorkerOptions{}) })
	}
}
