//go:build !linux

package engine_test

import "time"

func cpuNow() time.Time { return time.Now() }
