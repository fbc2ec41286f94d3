package scaffold

import (
	"bytes"
	_ "embed"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/manifest/editor"
	"github.com/pages-toolchain/pages/manifest/starter"
)

// This file sets up coding agents: AGENTS.md, the configuration of MCP, and the skill.

// Agents are the texts for coding agents.
type Agents struct {
	Skill  []byte // SKILL.md, which has SkillMark
	Folder string // the site's folder below that of the agent, with slashes; "" for the same
}

// SkillMark is a line of the skill by which a later version knows it again.
const SkillMark = "generated-by: pages init --agents"

// skillFiles are the places where agents look for skills: the one that many share, and that of Claude Code.
var skillFiles = []string{".agents/skills/pages/SKILL.md", ".claude/skills/pages/SKILL.md"}

const (
	agentsFile = "AGENTS.md"
	mcpFile    = ".mcp.json"

	blockBegin = "<!-- pages:begin -->"
	blockEnd   = "<!-- pages:end -->"
)

// agentsText is the part of AGENTS.md about pages.
//
//go:embed agents.md
var agentsText string

// agentsBlock is that part between its markers.
var agentsBlock = blockBegin + "\n" + agentsText + blockEnd + "\n"

// mcpServer is the entry of an MCP server.
type mcpServer struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// server returns the name and the entry of the site's MCP server.
func (a *Agents) server() (name string, entry mcpServer) {
	entry = mcpServer{"pages", []string{"mcp", "--dev"}}
	if a.Folder == "" {
		return "pages-dev", entry
	}
	entry.Args = append(entry.Args, "-C", a.Folder)
	return "pages-" + starter.SiteName(a.Folder), entry
}

// planAgents plans the files for agents.
func planAgents(t *terminal.Terminal, p *projectfile.Folder, a *Agents) (files []*projectfile.File, err error) {
	if a == nil {
		return nil, nil
	}
	name, entry := a.server()
	plan := func(file, reason string, edit func(before []byte) ([]byte, error)) {
		if err != nil {
			return
		}
		var f *projectfile.File
		if f, err = p.Read(file); err != nil {
			err = unreadableError(t, p, "agents-unreadable", "the files for agents", err)
			return
		}
		f.Reason = reason
		if f.After, err = edit(f.Before); err != nil {
			err = settingsError(t, p.Path(file), f.Before, err)
			return
		}
		files = append(files, f)
	}
	plan(agentsFile, "has the block of this version", withBlock)
	plan(mcpFile, "already has the server "+name, func(before []byte) ([]byte, error) {
		return editor.AddMember(before, []string{"mcpServers"}, name, entry)
	})
	for _, file := range skillFiles {
		plan(file, "is the skill of this version", func(before []byte) ([]byte, error) {
			if len(before) > 0 && !bytes.Contains(before, []byte(SkillMark)) {
				return nil, &failure.Error{
					Exit: failure.ExitRefused, Code: "file-in-the-way",
					Message: t.Shown(p.Path(file)) + " is not from pages init",
					Fix:     "move it away, then run this again; nothing was written",
				}
			}
			return a.Skill, nil
		})
	}
	return files, err
}

// withBlock returns a text with the block about pages: at its end, or in the place of an earlier block. It changes no other byte. A text
// whose markers do not make one block is refused with a *editor.SettingsError.
func withBlock(src []byte) ([]byte, error) {
	text, block := string(src), agentsBlock
	if strings.Contains(text, "\r\n") {
		block = strings.ReplaceAll(block, "\n", "\r\n")
	}
	begins, ends := markers(text, blockBegin), markers(text, blockEnd)
	switch {
	case len(begins) == 0 && len(ends) == 0:
		if text != "" {
			eol := block[len(strings.TrimRight(block, "\r\n")):]
			if !strings.HasSuffix(text, "\n") {
				text += eol
			}
			text += eol
		}
		return []byte(text + block), nil
	case len(begins) != 1 || len(ends) != 1 || ends[0] < begins[0]:
		at := 0
		if all := append(begins, ends...); len(all) > 0 {
			at = all[len(all)-1]
		}
		return nil, &editor.SettingsError{
			Offset: at, Code: "agents-markers", Msg: "the markers " + blockBegin + " and " + blockEnd + " do not enclose one block",
			Fix: "remove the block and its markers, then run this again; nothing was written",
		}
	}
	return []byte(text[:begins[0]] + strings.TrimRight(block, "\r\n") + text[ends[0]+len(blockEnd):]), nil
}

// markers returns the offsets of a marker that is alone on its line.
func markers(text, marker string) (offsets []int) {
	offset := 0
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, " \t\r\n") == marker {
			offsets = append(offsets, offset)
		}
		offset += len(line)
	}
	return offsets
}

// Within returns the path of a site below the folder of an agent, with slashes; "" if it is the same, or elsewhere.
func Within(folder, dir string) string {
	rel, err := filepath.Rel(folder, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}
