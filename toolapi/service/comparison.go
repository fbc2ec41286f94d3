package service

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// This file compares a revision with the live one, and shows the difference to the person who approves it. The sorted
// lists of files of both bundles are read side by side: two lists of 20,000 take a tenth of a second, and hardly more
// memory than the paths.

// comparison is the difference between a bundle and the live one. It never changes.
type comparison struct {
	hasBase                       bool // a revision is live
	added, changed, removed, same fileCount
	opened, closed                nameList // paths that become public, and for members only
	public, members               nameList // access by audience: routes, each with its files
	worker                        string
	migrations                    []string // all of the bundle, in the order they run
	provisions                    []string // new bindings
	differences                   []string // changed parts of the manifest
}

type fileCount struct {
	n     int
	bytes int64
}

func (c *fileCount) add(f *toolapi.UploadFile) { c.n, c.bytes = c.n+1, c.bytes+int64(f.Size) }

func (c fileCount) inWords(word string) string {
	return fmt.Sprintf("%d %s (%s)", c.n, word, formatSize(c.bytes))
}

// nameList has the first maxNames names, as shown.
type nameList struct {
	Names []string
	More  int
}

func (s *nameList) add(name string) { s.addShown(exactText(name)) }

// addShown adds a text that is shown as it is.
func (s *nameList) addShown(text string) {
	if len(s.Names) == maxNames {
		s.More++
		return
	}
	s.Names = append(s.Names, text)
}

// All returns the number of all names.
func (s nameList) All() int { return len(s.Names) + s.More }

// compareBundles compares two bundles; the first is 0 when nothing is live.
func (s *Service) compareBundles(t tx, was, now int64) (*comparison, error) {
	key := [2]int64{was, now}
	if c, ok := s.comparisons.get(key); ok {
		return c, nil
	}
	before, err := t.storedBundle(was)
	if err != nil {
		return nil, err
	}
	after, err := t.storedBundle(now)
	if err != nil {
		return nil, err
	}
	c, err := compare(before, after, was != 0)
	if err != nil {
		return nil, fmt.Errorf("compare the bundles %d and %d: %w", was, now, err)
	}
	s.comparisons.put(key, c)
	return c, nil
}

func compare(was, now storedBundle, hasBase bool) (*comparison, error) {
	c := &comparison{hasBase: hasBase}
	var files []string
	before, after := map[string]string{}, map[string]string{} // hashes of the Worker's files, by name
	err := mergeFiles(was.files, now.files, func(w, n *toolapi.UploadFile) {
		switch {
		case w == nil:
			c.added.add(n)
		case n == nil:
			c.removed.add(w)
		case w.SHA256 != n.SHA256, w.ContentType != n.ContentType:
			c.changed.add(n)
		default:
			c.same.add(n)
		}
		noteWorkerFile(before, was.manifest, w)
		noteWorkerFile(after, now.manifest, n)
		if n == nil {
			return
		}
		files = append(files, n.Path)
		if now.manifest.IsMigration(n.Path) {
			c.migrations = append(c.migrations, path.Base(n.Path))
		}
	})
	if err != nil {
		return nil, err
	}
	switch {
	case len(before) == 0 && len(after) == 0:
	case len(before) == 0:
		c.worker = "new"
	case len(after) == 0:
		c.worker = "removed"
	case maps.Equal(before, after):
		c.worker = "unchanged"
	default:
		c.worker = "changed"
	}
	has := was.manifest.Provisions()
	c.provisions = slices.DeleteFunc(now.manifest.Provisions(), func(name string) bool { return slices.Contains(has, name) })
	audiences, rest := manifest.AccessList(now.manifest, slices.Values(files)), "all else"
	if len(audiences) == 1 {
		rest = "everything"
	}
	for _, a := range audiences {
		into := &c.public
		if a.Access == manifest.Members {
			into = &c.members
		}
		a.Example = exactText(a.Example)
		into.addShown(fmt.Sprintf("%s (%s)", cmp.Or(exactText(a.Pattern), rest), a.Extent()))
	}
	if !hasBase {
		return c, nil
	}
	for _, a := range manifest.AccessChanges(was.manifest, now.manifest, slices.Values(files)) {
		into := &c.opened
		if a.Now == manifest.Members {
			into = &c.closed
		}
		into.add(a.Path)
	}
	c.differences = manifest.Differences(was.manifest, now.manifest)
	return c, nil
}

// noteWorkerFile notes the hash of a file of the Worker: its entry, and the modules beside it.
func noteWorkerFile(hashes map[string]string, m *manifest.Manifest, f *toolapi.UploadFile) {
	if f == nil || m.Entry == "" {
		return
	}
	entry := path.Clean(m.Entry)
	if f.Path == entry {
		hashes[""] = string(f.SHA256)
	} else if name, _ := bundle.WorkerModule(entry, f.Path); name != "" {
		hashes[strings.TrimPrefix(name, "./")] = string(f.SHA256)
	}
}

// mergeFiles calls each for every path of two packed lists of files; was or now is nil when its list lacks the path.
func mergeFiles(was, now []byte, each func(was, now *toolapi.UploadFile)) error {
	next, stop := iter.Pull2(storedFiles(was))
	defer stop()
	w, err, more := next()
	for n, fault := range storedFiles(now) {
		if fault != nil {
			return fault
		}
		for ; more && err == nil && w.Path < n.Path; w, err, more = next() {
			each(&w, nil)
		}
		if err != nil {
			return err
		}
		if !more || w.Path != n.Path {
			each(nil, &n)
			continue
		}
		each(&w, &n)
		w, err, more = next()
	}
	for ; more && err == nil; w, err, more = next() {
		each(&w, nil)
	}
	return err
}

// contentsView shows a revision against the live one.
type contentsView struct {
	Revision, Live string
	First          bool     // no revision is live
	Kept, LiveKept bool     // the contents of each are stored
	Opened         nameList // paths that become public
	Rows           []contentsRow
}

// contentsRow is one difference: in words, or as names.
type contentsRow struct {
	What, Says string
	nameList
}

// contents compares a revision of a site with the live one.
func (v *consoleRequest) contents(t tx, s siteRow, revision string) (*contentsView, error) {
	if s.id == "" || s.live.String == revision {
		return nil, nil //nolint:nilnil // no difference
	}
	shown := &contentsView{Revision: revision, Live: s.live.String, First: !s.live.Valid}
	now, err := t.bundleOf(s.id, revision)
	if err != nil || now == 0 {
		return shown, err
	}
	was, err := t.bundleOf(s.id, s.live.String)
	if err != nil {
		return nil, err
	}
	c, err := v.service.compareBundles(t, was, now)
	if err != nil {
		return nil, err
	}
	applied, err := t.appliedMigrations(s.id)
	if err != nil {
		return nil, err
	}
	shown.Kept, shown.LiveKept, shown.Opened = true, was != 0, c.opened
	if c.hasBase {
		var counts []string
		for _, kind := range []struct {
			fileCount
			word string
		}{{c.added, "added"}, {c.changed, "changed"}, {c.removed, "removed"}, {c.same, "unchanged"}} {
			if kind.n > 0 {
				counts = append(counts, kind.inWords(kind.word))
			}
		}
		shown.addText("Files", strings.Join(counts, ", "))
		shown.addNames("Becomes members only", "", c.closed)
		if c.opened.All()+c.closed.All() == 0 {
			shown.addText("Who may see what", "as now")
		}
	} else {
		shown.addText("Files", c.added.inWords("in all"))
		shown.addNames("For everyone", "", c.public)
	}
	shown.addNames("For members only", "", c.members)
	if c.worker != "" {
		shown.addText("Worker", c.worker)
	}
	shown.addNames("Migrations", "These run before it goes live:", missingFrom(applied, c.migrations))
	shown.addNames("Not in it", "The site's database has these migrations, which the revision does not know:",
		missingFrom(c.migrations, applied))
	if len(c.provisions) > 0 {
		shown.addText("Made on publishing", strings.Join(c.provisions, ", "))
	}
	if len(c.differences) > 0 {
		shown.addText("Changed in the manifest", strings.Join(c.differences, ", "))
	}
	return shown, nil
}

func (v *contentsView) addText(what, says string) {
	v.Rows = append(v.Rows, contentsRow{What: what, Says: says})
}

// addNames adds nothing for an empty list.
func (v *contentsView) addNames(what, says string, names nameList) {
	if len(names.Names) > 0 {
		v.Rows = append(v.Rows, contentsRow{what, says, names})
	}
}

// missingFrom returns the names that a list lacks; both are sorted.
func missingFrom(list, names []string) (missing nameList) {
	for _, name := range names {
		if _, ok := slices.BinarySearch(list, name); !ok {
			missing.add(name)
		}
	}
	return missing
}
