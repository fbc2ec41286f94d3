package wording

import (
	"testing"

	"golang.org/x/sys/windows"
)

// TestQuotedWord writes words that a program reads unchanged.
func TestQuotedWord(t *testing.T) {
	for _, word := range []string{"", "a b", `C:\my sites\`, `C:\it's & more\x`, `{"a":"b c"}`, `\\server\a "b"\`, "ünï"} {
		t.Run(word, func(t *testing.T) {
			got, err := windows.DecomposeCommandLine("pages " + ShellWord(word))
			if err != nil || len(got) != 2 || got[1] != word {
				t.Errorf("%s is read as %q, %v", ShellWord(word), got, err)
			}
		})
	}
	if got := ShellWord(`C:\sites\my-site`); got != `C:\sites\my-site` {
		t.Errorf("a plain path is quoted: %s", got)
	}
}
