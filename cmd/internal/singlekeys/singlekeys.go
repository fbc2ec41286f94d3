// Package singlekeys reads the keys of a terminal one by one, without showing them.
//
// In goes the terminal that a process reads from; out come bytes, one for each key. Hold fails where the terminal is another job's.
// Release gives it back as it was; on Unix Ctrl-Z does too, until the process is in the foreground again. A Terminal has one reader;
// Release may be called while it reads.
//
// It never changes what Ctrl-C does or how lines end.
package singlekeys
