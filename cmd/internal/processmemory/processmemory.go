// Package processmemory gives memory of this process back to the system.
//
// Nothing goes in or comes out, and nothing fails: where the system takes nothing back, nothing happens. It never touches memory that
// holds anything but copies of the program's own file.
package processmemory

import "runtime/debug"

// GiveBack returns the free part of the heap, and the parts of the program that were read so far: the system keeps the file, so it
// loads a part again at once. It takes some milliseconds.
func GiveBack() {
	debug.FreeOSMemory()
	giveBackProgram()
}
