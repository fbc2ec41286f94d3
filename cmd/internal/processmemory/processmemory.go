// Package processmemory gives memory of this process back to the system.
//
// Nothing goes in or comes out, and nothing fails: where the system takes nothing back, nothing happens. It never touches memory that
// holds anything but copies of the program's own file.
package processmemory

import "runtime/debug"

// GiveBack gives back what the heap has grown by and does not need, and the parts of the program that have been read until now: those
// that are needed again are there at once, since the system keeps the file. It takes some milliseconds.
func GiveBack() {
	debug.FreeOSMemory()
	giveBackProgram()
}
