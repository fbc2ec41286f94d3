// Package processgroup ends a program together with its child processes. Its functions take a command before its start, or after it, and
// return the error of the system. They are safe for concurrent use with different commands. They end no other process.
//
// [Own] puts a program into a group of its own, and [Tie] makes the group end with this process, even if a signal kills it. On Unix a shell
// waits for that, and ends the group; on Windows a job object ends it. On other systems only the program itself is ended, and Tie does
// nothing.
package processgroup
