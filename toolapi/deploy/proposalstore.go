package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// This file keeps proposals in a folder, one file each, until they are confirmed or
// have expired.

// uuid is the shape of a confirmation id, and so of a file's name.
var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// ValidID reports whether a text has the shape of a confirmation id.
func ValidID(id string) bool { return uuid.MatchString(id) }

// forgotten is how long after its end a proposal is kept, so that it can be told why it
// cannot be confirmed.
const forgotten = 7 * 24 * time.Hour

// Keep writes a proposal into a folder, for its owner alone, and drops old ones. It
// holds no key.
func (p *Proposal) Keep(dir string) error {
	if !ValidID(p.ID) {
		return fmt.Errorf("the confirmation id %q is no UUID", p.ID)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	removeExpired(dir, p.Proposed)
	return writeFile(filepath.Join(dir, p.ID+".json"), append(text, '\n'))
}

// writeFile replaces a file whole.
func writeFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Kept reads a proposal of a folder; fs.ErrNotExist when there is none of the id.
func Kept(dir, id string) (*Proposal, error) {
	if !ValidID(id) {
		return nil, fs.ErrNotExist
	}
	return ReadProposal(filepath.Join(dir, id+".json"))
}

// ReadProposal reads a proposal's file.
func ReadProposal(file string) (*Proposal, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := &Proposal{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s is no kept proposal: %w", file, err)
	}
	if !ValidID(p.ID) || p.Tool == "" {
		return nil, fmt.Errorf("%s is no kept proposal", file)
	}
	return p, nil
}

func removeExpired(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir) // what cannot be read is not swept
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if id, ours := strings.CutSuffix(e.Name(), ".json"); !ours || !ValidID(id) || !e.Type().IsRegular() {
			continue
		}
		if old, err := ReadProposal(file); err == nil && now.Sub(old.Expires) > forgotten {
			_ = os.Remove(file)
		}
	}
}
