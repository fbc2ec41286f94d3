//go:build !linux

package main

// treeMemory cannot be told here.
func treeMemory(int) int64 { return 0 }

// busy cannot be told here.
func busy() float64 { return 0 }

// treeProcessorTime cannot be told here.
func treeProcessorTime(int) float64 { return 0 }

// processorTime cannot be told without the system's own calls.
func processorTime(int) float64 { return 0 }
