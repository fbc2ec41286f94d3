package terminal

import (
	"os"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestObeyEscapes makes a console obey escape sequences, and leaves other files unchanged.
func TestObeyEscapes(t *testing.T) {
	console, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		testmachine.Lacks(t, "a console", err)
	}
	defer console.Close()
	handle, before := windows.Handle(console.Fd()), uint32(0)
	if err := windows.GetConsoleMode(handle, &before); err != nil {
		testmachine.Lacks(t, "a console", err)
	}
	defer func() { _ = windows.SetConsoleMode(handle, before) }()
	if err := windows.SetConsoleMode(handle, before&^windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		t.Fatal(err)
	}
	none, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	ObeyEscapes(none, console)
	var now uint32
	if err := windows.GetConsoleMode(handle, &now); err != nil || now&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING == 0 {
		t.Errorf("the console's mode is %#x, %v", now, err)
	}
}
