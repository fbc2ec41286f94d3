package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// treeMemory is the memory of the process and its descendants, in bytes: the
// sum of their proportional set sizes, so that a page that several share counts
// once. A process that ends meanwhile counts nothing.
func treeMemory(pid int) int64 {
	var total int64
	for _, p := range descendants(pid) {
		total += proportional(p)
	}
	return total
}

// descendants are pid and all below it.
func descendants(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", all[i]))
		if err != nil {
			continue
		}
		for _, task := range tasks {
			list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", all[i], task.Name()))
			if err != nil {
				continue
			}
			for field := range strings.FieldsSeq(string(list)) {
				if child, err := strconv.Atoi(field); err == nil {
					all = append(all, child)
				}
			}
		}
	}
	return all
}

// proportional reads the process's Pss from the kernel, which gives it in kB.
func proportional(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			fields := strings.Fields(rest)
			if len(fields) > 0 {
				kb, err := strconv.ParseInt(fields[0], 10, 64)
				if err == nil {
					return kb << 10
				}
			}
		}
	}
	return 0
}

// processorTime is what the threads that a process has now have used, in
// milliseconds; 0 when it cannot be told.
func processorTime(pid int) float64 {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0
	}
	var total float64
	for _, task := range tasks {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, task.Name()))
		if err != nil {
			continue // it ended, or the kernel keeps none
		}
		first, _, _ := strings.Cut(string(text), " ")
		if ns, err := strconv.ParseFloat(first, 64); err == nil {
			total += ns / 1e6
		}
	}
	return total
}

// treeProcessorTime is what a process and all its descendants have used, in
// milliseconds; 0 when it cannot be told.
func treeProcessorTime(pid int) float64 {
	var total float64
	for _, p := range descendants(pid) {
		total += processorTime(p)
	}
	return total
}

// busy is how many processes wanted a processor in the last minute, on average.
func busy() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return load
}
