package scaffold

import (
	"errors"
	"os"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
)

// TestEditorFolderGone: an unwritable folder ends with the exit code for resources of the machine.
func TestEditorFolderGone(t *testing.T) {
	dir := t.TempDir()
	p, err := projectfile.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := p.Read(".nvim.lua")
	if err != nil {
		t.Fatal(err)
	}
	f.After = []byte("x")
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	err = planned{p, []*projectfile.File{f}}.write(&terminal.Terminal{})
	if known, ok := errors.AsType[*failure.Error](err); !ok || known.Exit != failure.ExitResource || known.Fix == "" {
		t.Errorf("got %#v", err)
	}
}
