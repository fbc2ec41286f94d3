//go:build !linux

package devcommand

// ownsPort cannot find out on this system.
func ownsPort(int, int) (owns, known bool) { return false, false }
