//go:build !linux

package main

// watchLimits has nothing to compare: the system sets no limit of its own.
func watchLimits(folders int) []finding { return well("watching", "%s", count(folders, "folder")) }
