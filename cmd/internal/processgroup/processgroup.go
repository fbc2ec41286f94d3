// Package processgroup ends a program together with its child processes. In go a command that is not started yet, and
// the same command later; nothing comes out but the system's error. It is safe for concurrent use with different commands.
// It ends nothing that it was not given.
//
// [Own] puts a program into a group of its own, and [Tie] makes the group end with this process, even if a signal kills it.
// On Unix a shell waits for that, and ends the group; on Windows a job object does. On other systems only the program
// itself is ended, and Tie does nothing.
package processgroup
