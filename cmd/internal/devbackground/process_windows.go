//go:build windows

package devbackground

import (
	"context"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach makes a program survive the end of this console.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

// AwaitParent returns when the process that started this one has ended, or ctx. The handle keeps the number of the process from reuse. A
// parent that cannot be opened has ended.
func AwaitParent(ctx context.Context) {
	parent, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(os.Getppid()))
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(parent) }()
	const poll = 250 // ms
	for ctx.Err() == nil {
		if event, err := windows.WaitForSingleObject(parent, poll); err != nil || event == windows.WAIT_OBJECT_0 {
			return
		}
	}
}
