//go:build windows

package processgroup

import (
	"errors"
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// jobs are the job objects of tied commands.
var jobs sync.Map // of windows.Handle, by *exec.Cmd

// Own does nothing: the job object takes the program after its start.
func Own(*exec.Cmd) {}

// Interrupt ends the program and its child processes: Windows has no signals.
func Interrupt(cmd *exec.Cmd) error { return Terminate(cmd) }

// Terminate ends the program and its child processes: Windows has no signals.
func Terminate(cmd *exec.Cmd) error {
	if job, ok := jobs.Load(cmd); ok {
		return windows.TerminateJobObject(job.(windows.Handle), 1)
	}
	return cmd.Process.Kill()
}

// Kill ends the remaining processes, if any.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = Terminate(cmd)
	}
}

// Alive reports whether the program still runs.
func Alive(cmd *exec.Cmd) bool { return cmd.ProcessState == nil }

// Tie makes a started program and its child processes end with this process: the system closes the job object then.
func Tie(cmd *exec.Cmd) (release func(), err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(
		job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)),
	)
	if err == nil {
		var process windows.Handle
		process, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
		if err == nil {
			err = errors.Join(windows.AssignProcessToJobObject(job, process), windows.CloseHandle(process))
		}
	}
	if err != nil {
		return nil, errors.Join(err, windows.CloseHandle(job))
	}
	jobs.Store(cmd, job)
	return func() {
		jobs.Delete(cmd)
		_ = windows.CloseHandle(job)
	}, nil
}
