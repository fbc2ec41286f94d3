package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// This file asks the kernel through /proc. Where there is none, every figure is 0: it cannot be told.

// treeMemory is the memory of the process and its descendants, in bytes: the
// sum of their proportional set sizes, so that a page that several share counts
// once. A process that ends meanwhile counts nothing.
func treeMemory(pid int) (total int64) {
	for _, p := range descendants(pid) {
		total += kibibytes(procField(fmt.Sprintf("/proc/%d/smaps_rollup", p), "Pss", ""))
	}
	return total
}

// kibibytes reads "1234 kB" as bytes.
func kibibytes(text string) int64 {
	number, _, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseInt(number, 10, 64) // 0 for none
	return n << 10
}

// descendants are pid and all below it.
func descendants(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		for _, field := range taskFields(all[i], "children") {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// taskFields are the words of a file that the kernel keeps for each thread of a process.
func taskFields(pid int, name string) (fields []string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", pid, name)) // the pattern is a good one
	for _, file := range files {
		text, _ := os.ReadFile(file) // nothing of a thread that ended
		fields = append(fields, strings.Fields(string(text))...)
	}
	return fields
}

// processorTime is what the threads that a process has now have used, in milliseconds.
func processorTime(pid int) (total float64) {
	// Of the three fields of a thread the first is the time that it ran, in nanoseconds.
	for thread := range slices.Chunk(taskFields(pid, "schedstat"), 3) {
		ns, _ := strconv.ParseFloat(thread[0], 64)
		total += ns / 1e6
	}
	return total
}

// treeProcessorTime is what a process and all its descendants have used, in milliseconds.
func treeProcessorTime(pid int) (total float64) {
	for _, p := range descendants(pid) {
		total += processorTime(p)
	}
	return total
}

// busy is how many processes wanted a processor in the last minute, on average.
func busy() (load float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	_, _ = fmt.Sscan(string(text), &load)
	return load
}

// procField is the value of the first "name: value" of a file.
func procField(file, name, otherwise string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return otherwise
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return otherwise
}
