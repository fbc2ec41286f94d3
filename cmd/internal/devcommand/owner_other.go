//go:build !linux

package devcommand

// ownsPort never knows on this system.
func ownsPort(int, int) (owns, known bool) { return false, false }
