//go:build !linux

package main

// treeMemory cannot be told here.
func treeMemory(int) int64 { return 0 }
