//go:build !linux

package devcommand

// ownsPort cannot tell here.
func ownsPort(int, int) (owns, known bool) { return false, false }
