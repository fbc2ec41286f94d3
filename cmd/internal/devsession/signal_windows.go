package devsession

import "os"

// signalOf returns the signal that ended a process; there are none here.
func signalOf(*os.ProcessState) (int, bool) { return 0, false }
