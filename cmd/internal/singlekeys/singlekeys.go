// Package singlekeys reads the keys of a terminal one by one, without showing them.
//
// Input: the terminal of a process. Output: bytes, one for each key. Hold fails if another job has the terminal. Release restores its
// settings; on Unix Ctrl-Z does too, until the process is in the foreground again. A Terminal has one reader; Release may be called while
// it reads.
//
// It does not change the effect of Ctrl-C and the end of lines.
package singlekeys
