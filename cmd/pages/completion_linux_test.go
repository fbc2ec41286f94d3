package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The script for bash completes in a shell with nothing else, after "=" and before further words, too.
func TestCompletionOfBashAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(program(t), filepath.Join(dir, "pages")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--norc", "--noprofile", "-i")
	cmd.Env = append(os.Environ(), "PS1=$ ", "HISTFILE=", "TERM=dumb", "PATH="+dir+":"+os.Getenv("PATH"))
	shell := startAtTerminal(t, cmd)
	shell.answer("$ ", "complete -r; unset -f _init_completion _get_comp_words_by_ref; source <(pages completion bash)\n")
	shell.answer("$ ", "pages dev --live-reload=fu\t")
	shell.answer("--live-reload=full ", "\x15pages   rout\t")
	shell.answer("pages   routes ", "expl\t--as=outs\t")
	// The cursor is after the c.
	shell.answer("explain --as=outsider ", "\x15pages build --target c --minify\x02\x02\x02\x02\x02\x02\x02\x02\x02\t")
	shell.answer("loudflare", "\x15\x0bexit 3\n")
	if code, shown := shell.end(); code != 3 {
		t.Errorf("exit code %d: %s", code, shown)
	}
}
