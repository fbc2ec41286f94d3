package web

import (
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// absent are the globals of the platform that this version does not provide,
// sorted.
var absent = []string{ //nolint:gochecknoglobals // a table
	"FetchEvent", "ScheduledEvent",
}

// Absent reports whether name is a global that the platform has and this
// version does not provide.
func Absent(name string) bool {
	_, found := slices.BinarySearch(absent, name)
	return found
}

// AbsentIn is the absent global that an exception is about; "" when it is about
// something else. Such an exception is the engine's own "X is not defined",
// which does not say that the Worker would run on the platform.
func AbsentIn(e *engine.Error) string {
	name, found := strings.CutSuffix(e.Message, " is not defined")
	if e.Name != "ReferenceError" || !found || !Absent(name) {
		return ""
	}
	return name
}
