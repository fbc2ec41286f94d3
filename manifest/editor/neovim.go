package editor

import (
	_ "embed"
	"fmt"
	"strings"
)

const (
	neovimSchema = ".nvim/pages.schema.json"

	neovimBegin = `-- >>> pages init --editor neovim (do not edit up to the end mark: run it again)`
	neovimEnd   = `-- <<< pages init --editor neovim`
)

// neovimLua adds the schema to the server's settings when it attaches, so that it does not matter how the user's own
// configuration starts it. The code is in the file that Neovim asks the user to trust: Neovim would run a separate file
// without asking.
//
//go:embed neovim.lua
var neovimLua string

// editNeovim puts the block between the marks, or at the top: Lua allows nothing after a chunk's return.
func editNeovim(src []byte) ([]byte, error) {
	eol := lineEnd(src)
	block := withLineEnd(neovimBegin+"\n"+neovimLua+neovimEnd+"\n", eol)
	begins, ends := lineOffsets(src, neovimBegin), lineOffsets(src, neovimEnd)
	switch {
	case len(begins) == 0 && len(ends) == 0:
		if len(src) > 0 {
			block += eol
		}
		return append([]byte(block), src...), nil
	case len(begins) == 1 && len(ends) == 1 && begins[0] < ends[0]:
		end := ends[0] + len(neovimEnd)
		block = strings.TrimSuffix(block, eol)
		return apply(src, []splice{{begins[0], end, block}}), nil
	}
	return nil, &SettingsError{
		Offset: append(begins, ends...)[0], Code: CodeSyntax,
		Msg: fmt.Sprintf("the block needs one begin mark and one end mark, and has %d and %d", len(begins), len(ends)),
		Fix: "remove the block with its marks, then run this again; nothing was written",
	}
}

// lineOffsets returns the offsets of the lines equal to line.
func lineOffsets(src []byte, line string) []int {
	var offsets []int
	offset := 0
	for l := range strings.Lines(string(src)) {
		if strings.TrimRight(l, "\r\n") == line {
			offsets = append(offsets, offset)
		}
		offset += len(l)
	}
	return offsets
}
