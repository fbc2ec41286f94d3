package runtime

import "time"

// This file holds the limits of time and the log messages that all engines share.

const (
	// WaitUntilTime bounds ctx.waitUntil after the response, as on the platform.
	WaitUntilTime = 30 * time.Second
	// OverWaitUntil is logged when it did.
	OverWaitUntil = "waitUntil was ended 30 s after the response, with unfinished work"
	// PassedThrough begins the log line of an exception after which the static file was served.
	PassedThrough = "passThroughOnException: the static file was served, because of "
	// StatusClientGone is the status in logs of a response whose client has gone.
	StatusClientGone = 499
	// DefaultLoadCPU is the CPU time for evaluating the module, which no limit of the site bounds.
	DefaultLoadCPU = 10 * time.Second
)

// Exceeded is the warning for a request that used more than limits.cpuMs if that is not enforced; "" for none.
func (l Limits) Exceeded(u Usage) string {
	if l.Mode != Warn || u.CPU <= l.CPUTime() {
		return ""
	}
	return "this request used " + u.CPU.Round(time.Millisecond).String() + " of CPU time, over limits.cpuMs"
}
