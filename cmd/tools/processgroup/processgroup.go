// Package processgroup ends a program together with all that it started. In go a command that is not started yet, and
// the same command later; nothing comes out but the system's error. Where there are no process groups, only the program
// itself is ended. It is safe for concurrent use with different commands. It ends nothing that it was not given.
package processgroup
