// Package processmemory returns memory of this process to the system.
//
// It takes no arguments and cannot fail: on a system without the calls, nothing happens. Besides free heap it drops only memory that copies
// the program's own file.
package processmemory

import "runtime/debug"

// GiveBack returns the free part of the heap, and the loaded parts of the program: the system still has the file, and loads a part again
// when it is needed. It takes some milliseconds.
func GiveBack() {
	debug.FreeOSMemory()
	giveBackProgram()
}
