package snapshot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// site is a state folder of a test.
type site struct {
	*testing.T
	dir string
}

func newSite(t *testing.T) *site { return &site{t, t.TempDir()} }

func (s *site) store() *Store {
	s.Helper()
	store, err := Open(s.dir, Options{Now: func() time.Time { return time.Unix(1e9, 0) }})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = store.Close() })
	return store
}

// exec runs SQL on a database of the state, in WAL mode as all state is.
func (s *site) exec(name, text string) {
	s.Helper()
	db, err := sql.Open("sqlite", dbfile.URI(filepath.Join(s.dir, name), "_pragma=journal_mode(WAL)"))
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(s.Context(), text); err != nil {
		s.Fatal(err)
	}
}

func (s *site) put(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

func blob(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "storage/blobs/" + hex.EncodeToString(sum[:])
}

func upload(mark string) string { return "uploads" + strings.TrimPrefix(blob(mark), "storage") }

// fill makes a state with its name in every part.
func (s *site) fill(mark string) {
	s.Helper()
	for _, name := range []string{"site.db", "kv.db"} {
		s.exec(name, fmt.Sprintf("DROP TABLE IF EXISTS t; CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('%s')", mark))
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "storage"), 0o700); err != nil {
		s.Fatal(err)
	}
	s.exec("storage/index.db", fmt.Sprintf("DROP TABLE IF EXISTS t; CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('%s')", mark))
	s.put(blob(mark), mark)
	s.put("project.db", mark) // no database yet
	s.put("storage/incoming/"+rand.Text(), "work under way")
	s.put(upload(mark), mark)
	for _, name := range strangers {
		s.put(name, "somebody's own")
	}
}

// strangers are files that are not the state's: nothing here removes, replaces or saves them.
var strangers = []string{
	"notes.txt", "photos/a.jpg", ".DS_Store", "site.db.bak", "storage/.DS_Store", "storage/thesis.docx",
	"storage/blobs/._x", "storage/blobs/list.txt",
	"storage/incoming/draft.txt", "uploads/blobs/deep/er.txt", "undo/thesis.docx",
}

// isStranger reports whether a file is one of them.
func isStranger(name string) bool { return slices.Contains(strangers, name) }

// own checks that files outside of the state are unchanged.
func (s *site) own(what string) {
	s.Helper()
	for _, name := range strangers {
		if text, err := os.ReadFile(filepath.Join(s.dir, name)); err != nil || string(text) != "somebody's own" {
			s.Errorf("%s: %s: %q, %v", what, name, text, err)
		}
	}
}

// contents is all of a state: rows of databases and texts of files.
func (s *site) contents() map[string]string {
	s.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		top, _, _ := strings.Cut(name, "/")
		if d.IsDir() || strings.HasPrefix(top, ".") || strings.HasSuffix(top, ".lock") || top == Folder || top == "dev.json" ||
			strings.HasPrefix(name, "storage/incoming") || isStranger(name) ||
			strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		all[name] = string(text)
		if strings.HasSuffix(name, ".db") && name != "project.db" {
			all[name] = s.row(name)
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return all
}

func (s *site) row(name string) (v string) {
	s.Helper()
	db, err := sql.Open("sqlite", dbfile.URI(filepath.Join(s.dir, name), ""))
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(s.Context(), "SELECT v FROM t").Scan(&v); err != nil {
		s.Fatalf("%s: %v", name, err)
	}
	return v
}

func (s *site) same(what string, want map[string]string) {
	s.Helper()
	if got := s.contents(); !maps.Equal(got, want) {
		s.Errorf("%s:\n%v\nwant\n%v", what, got, want)
	}
}

func TestSaveLoad(t *testing.T) {
	s := newSite(t)
	s.fill("old")
	s.put("dev.json", "who runs")
	old := s.contents()
	info, err := s.store().Save(t.Context(), "one", false)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, f := range info.Files {
		kinds = append(kinds, string(f.Kind)+" "+strings.Replace(f.Path, filepath.Base(blob("old")), "BLOB", 1))
	}
	want := []string{
		"database kv.db", "file project.db", "database site.db", "blob storage/blobs/BLOB", "database storage/index.db",
		"blob uploads/blobs/BLOB",
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("saved %q, want %q", kinds, want)
	}
	s.fill("new")
	s.put("dev.json", "who runs now")
	if _, err := s.store().Load(t.Context(), "one", nil); err != nil {
		t.Fatal(err)
	}
	s.same("loaded", old)
	if text, err := os.ReadFile(filepath.Join(s.dir, "dev.json")); err != nil || string(text) != "who runs now" {
		t.Errorf("dev.json: %q, %v", text, err)
	}
	// Changes of the state do not reach the snapshot.
	s.fill("newer")
	if _, err := s.store().Load(t.Context(), "one", nil); err != nil {
		t.Fatal(err)
	}
	s.same("loaded again", old)
	s.own("loaded again")
}

func TestReplaceRemoveReset(t *testing.T) {
	s := newSite(t)
	s.fill("old")
	store := s.store()
	if _, err := store.Save(t.Context(), "one", false); err != nil {
		t.Fatal(err)
	}
	s.exec("site.db", "UPDATE t SET v = 'two'")
	if _, err := store.Save(t.Context(), "one", false); code(err) != CodeExists {
		t.Errorf("a second one of the name: %v", err)
	}
	if _, err := store.Save(t.Context(), "one", true); err != nil {
		t.Fatal(err)
	}
	gone, err := store.Reset()
	if want := []string{"kv.db", "project.db", "site.db", "storage", "uploads"}; err != nil || !slices.Equal(gone, want) {
		t.Errorf("reset %q, %v; want %q", gone, err, want)
	}
	s.same("empty", map[string]string{})
	s.own("empty")
	// No question is asked if nothing is lost.
	no := errors.New("no")
	disagree := func() error { return no }
	if _, err := store.Load(t.Context(), "one", disagree); err != nil || s.row("site.db") != "two" {
		t.Errorf("%q, %v", s.row("site.db"), err)
	}
	s.exec("site.db", "UPDATE t SET v = 'three'")
	if _, err := store.Load(t.Context(), "one", disagree); !errors.Is(err, no) || s.row("site.db") != "three" {
		t.Errorf("%q, %v", s.row("site.db"), err)
	}
	if err := store.Remove("one"); err != nil {
		t.Fatal(err)
	}
	if list, err := store.List(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := store.Load(t.Context(), "one", nil); code(err) != CodeMissing {
		t.Errorf("load of a removed one: %v", err)
	}
}

func code(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestNames(t *testing.T) {
	for name, good := range map[string]bool{
		"a": true, "before-import_2.0": true, strings.Repeat("x", 64): true,
		"": false, ".": false, "..": false, "../x": false, "a/b": false, `a\b`: false, ".hidden": false, "-f": false,
		"a ": false, "a.": false,
		"con": false, "NUL.db": false, "com1": false, "über": false, "a\x00": false, "a\n": false, strings.Repeat("x", 65): false,
	} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			if err := CheckName(name); (err == nil) != good {
				t.Errorf("%q: %v", name, err)
			}
		})
	}
}

// TestDamaged holds each way in which a snapshot can be wrong against the load, which must change nothing.
func TestDamaged(t *testing.T) {
	files := filepath.Join(Folder, "one", filesFolder)
	for name, c := range map[string]struct {
		do   func(s *site)
		want string
	}{
		"a flipped byte":       {func(s *site) { s.put(files+"/project.db", "olD") }, CodeDamaged},
		"a shortened database": {func(s *site) { s.put(files+"/site.db", "SQLite format 3\x00") }, CodeDamaged},
		"another blob": {func(s *site) {
			_ = os.Remove(filepath.Join(s.dir, files, blob("old")))
			s.put(files+"/"+blob("old"), "odd")
		}, CodeDamaged},
		"a missing file":  {func(s *site) { _ = os.Remove(filepath.Join(s.dir, files, "kv.db")) }, CodeDamaged},
		"a file too many": {func(s *site) { s.put(files+"/extra", "") }, CodeDamaged},
		"a link in it": {func(s *site) {
			_ = os.Remove(filepath.Join(s.dir, files, "project.db"))
			_ = os.Symlink(filepath.Join(s.dir, "project.db"), filepath.Join(s.dir, files, "project.db"))
		}, CodeDamaged},
		"no list":        {func(s *site) { _ = os.Remove(filepath.Join(s.dir, Folder, "one", listFile)) }, CodeForeign},
		"half a list":    {func(s *site) { s.put(Folder+"/one/"+listFile, `{"format": 1, "files": [`) }, CodeForeign},
		"another list":   {func(s *site) { s.put(Folder+"/one/"+listFile, `{"name": "one"}`) }, CodeForeign},
		"a newer format": {func(s *site) { s.put(Folder+"/one/"+listFile, `{"format": 2, "files": []}`) }, CodeForeign},
		"a way out": {func(s *site) {
			s.put(Folder+"/one/"+listFile, `{"format": 1, "files": [{"path": "../../x", "kind": "file", "size": 0, "sha256": ""}]}`)
		}, CodeForeign},
		"a lock": {func(s *site) {
			s.put(Folder+"/one/"+listFile, `{"format": 1, "files": [{"path": "dev.lock", "kind": "file", "size": 0, "sha256": ""}]}`)
		}, CodeForeign},
		"a snapshot in it": {func(s *site) {
			s.put(Folder+"/one/"+listFile, `{"format": 1, "files": [{"path": "snapshots/x", "kind": "file", "size": 0, "sha256": ""}]}`)
		}, CodeForeign},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.fill("old")
			if _, err := s.store().Save(t.Context(), "one", false); err != nil {
				t.Fatal(err)
			}
			c.do(s)
			s.fill("new")
			before := s.contents()
			if _, err := s.store().Load(t.Context(), "one", nil); code(err) != c.want {
				t.Errorf("load: %v, want %s", err, c.want)
			}
			s.same("the state", before)
			if _, err := os.Lstat(filepath.Join(s.dir, loadFolder)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the load left its folder: %v", err)
			}
		})
	}
}

// TestSaveRefuses a state that it could not restore.
func TestSaveRefuses(t *testing.T) {
	for name, do := range map[string]func(s *site){
		"a link":             func(s *site) { _ = os.Symlink("/etc/hosts", filepath.Join(s.dir, "cache.db")) },
		"a damaged blob":     func(s *site) { s.put(blob("old"), "odd") },
		"a damaged database": func(s *site) { s.put("platform.db", "SQLite format 3\x00"+strings.Repeat("x", 4096)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.fill("old")
			do(s)
			if _, err := s.store().Save(t.Context(), "one", false); code(err) != CodeUnusable {
				t.Errorf("save: %v", err)
			}
			if entries, err := os.ReadDir(filepath.Join(s.dir, Folder)); err == nil && len(entries) > 0 {
				t.Errorf("it left %v", entries)
			}
		})
	}
}

// TestSnapshotOfAnEarlierVersion: they saved every file of the folder. A file that no state has stays in the snapshot when it is loaded,
// and is removed with it; files that somebody put beside it are not.
func TestSnapshotOfAnEarlierVersion(t *testing.T) {
	s := newSite(t)
	s.fill("old")
	store := s.store()
	if _, err := store.Save(t.Context(), "one", false); err != nil {
		t.Fatal(err)
	}
	s.put(Folder+"/one/files/photos/deep/a.jpg", "jpg")
	text, err := os.ReadFile(filepath.Join(s.dir, Folder, "one", listFile))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("jpg"))
	s.put(
		Folder+"/one/"+listFile,
		strings.Replace(
			string(text), `"files": [`,
			`"files": [{"path": "photos/deep/a.jpg", "kind": "file", "size": 3, "sha256": "`+hex.EncodeToString(sum[:])+`"},`,
			1,
		),
	)
	info, err := store.Load(t.Context(), "one", nil)
	if err != nil || !slices.Equal(info.Left, []string{"photos/deep/a.jpg"}) {
		t.Errorf("loaded %v, left %q", err, info.Left)
	}
	if _, err := os.Lstat(filepath.Join(s.dir, "photos", "deep")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it came into the state: %v", err)
	}
	thesis := filepath.Join(s.dir, Folder, "one", filesFolder, "photos", "thesis.docx")
	s.put(Folder+"/one/files/photos/thesis.docx", "mine")
	if err := store.Remove("one"); code(err) != CodeForeign {
		t.Errorf("removed with a file of somebody's: %v", err)
	}
	if _, err := store.Save(t.Context(), "one", true); code(err) != CodeForeign {
		t.Errorf("replaced with a file of somebody's: %v", err)
	}
	if text, err := os.ReadFile(thesis); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(thesis); err != nil {
		t.Fatal(err)
	}
	if err := store.Remove("one"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(s.dir, Folder)); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestLitterInSnapshots: files that a desktop leaves there do no harm, and stay.
func TestLitterInSnapshots(t *testing.T) {
	s := newSite(t)
	s.fill("old")
	store := s.store()
	for range 3 {
		if _, err := store.Save(t.Context(), "one", true); err != nil {
			t.Fatal(err)
		}
		s.put(Folder+"/one/.DS_Store", "x")
		s.put(Folder+"/one/files/storage/.DS_Store", "x")
		if _, err := store.Load(t.Context(), "one", nil); err != nil {
			t.Fatal(err)
		}
		s.put(loadFolder+"/.DS_Store", "x") // left by an earlier load
		_ = os.Remove(filepath.Join(s.dir, ".DS_Store"))
		if err := store.Settle(); err != nil || Unsettled(os.DirFS(s.dir)) {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := store.Remove("one"); err != nil {
			t.Fatal(err)
		}
		if list, err := store.List(); err != nil || len(list) > 0 {
			t.Fatalf("%v, %v", list, err)
		}
		if _, err := store.Save(t.Context(), "one", false); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	err := fs.WalkDir(os.DirFS(s.dir), Folder, func(name string, _ fs.DirEntry, err error) error {
		if filepath.Base(name) == ".DS_Store" {
			kept++
		}
		return err
	})
	if err != nil || kept != 6 {
		t.Errorf("%d of 6 are there, %v", kept, err)
	}
}

// crash ends fn at its n-th change to the disk, as a kill would. It reports whether fn got that far.
func (s *site) crash(n int, fn func(*Store)) (crashed bool) {
	s.Helper()
	store := s.store()
	at := 0
	store.step = func(string) {
		if at++; at == n {
			panic(errCrash)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); !ok || !errors.Is(err, errCrash) {
				panic(r)
			}
			crashed = true
		}
	}()
	fn(store)
	return false
}

var errCrash = errors.New("crashed")

// TestCrash ends saves, loads and resets at each of their steps, and settles; some also crash while settling.
func TestCrash(t *testing.T) {
	base := newSite(t)
	base.fill("old")
	c := crashes{dir: base.dir, old: base.contents()}
	if _, err := base.store().Save(t.Context(), "one", false); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(base.dir, upload("old"))); err != nil {
		t.Fatal(err)
	}
	base.fill("new")
	c.fresh = base.contents()
	save := func(s *Store) { _, _ = s.Save(context.WithoutCancel(t.Context()), "one", true) }
	load := func(s *Store) { _, _ = s.Load(context.WithoutCancel(t.Context()), "one", nil) }
	reset := func(s *Store) { _, _ = s.Reset() }
	for name, do := range map[string]func(*Store){"save": save, "load": load, "reset": reset} {
		t.Run(name, func(t *testing.T) {
			for n, more := 1, true; more; n++ {
				more = c.at(t, name, do, n, 0)
				if more && name != "save" {
					c.at(t, name, do, n, 2)
				}
			}
		})
	}
}

// crashes are tries on copies of one state, which has a snapshot of an older one.
type crashes struct {
	dir        string
	old, fresh map[string]string
}

func (c crashes) at(t *testing.T, name string, do func(*Store), n, again int) (crashed bool) {
	t.Helper()
	s := newSite(t)
	if err := os.CopyFS(s.dir, os.DirFS(c.dir)); err != nil {
		t.Fatal(err)
	}
	old, fresh := c.old, c.fresh
	crashed = s.crash(n, do)
	settle := func(store *Store) {
		if err := store.Settle(); err != nil {
			t.Fatal(err)
		}
	}
	if again > 0 {
		s.crash(again, settle)
	}
	settle(s.store())
	what := fmt.Sprintf("%s crashed at step %d, settling at %d", name, n, again)
	got := s.contents()
	whole := maps.Equal(got, fresh) || name == "load" && maps.Equal(got, old) || name == "reset" && len(got) == 0
	if !whole {
		t.Errorf("%s: a mix: %v", what, got)
	}
	if _, err := os.Lstat(filepath.Join(s.dir, loadFolder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: there is still %s: %v", what, loadFolder, err)
	}
	// The snapshot is the one before or the one after, and whole.
	if _, err := s.store().Load(t.Context(), "one", nil); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if got := s.contents(); !maps.Equal(got, old) && (name != "save" || !maps.Equal(got, fresh)) {
		t.Errorf("%s: the snapshot is a mix: %v", what, got)
	}
	s.own(what)
	return crashed
}

// TestSaveWhileWriting saves while transactions that span two databases come in: a snapshot has both halves or
// none.
func TestSaveWhileWriting(t *testing.T) {
	s := newSite(t)
	s.exec("platform.db", "CREATE TABLE t (v INTEGER); INSERT INTO t VALUES (0)")
	s.exec("site.db", "CREATE TABLE t (v INTEGER); INSERT INTO t VALUES (0)")
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.write(t.Context(), stop)
	}()
	for n := range 4 {
		name := fmt.Sprint("s", n)
		if _, err := s.store().Save(t.Context(), name, false); err != nil {
			t.Fatal(err)
		}
		files := filepath.Join(Folder, name, filesFolder)
		a, b := s.row(filepath.Join(files, "platform.db")), s.row(filepath.Join(files, "site.db"))
		// Both locks are held before either is committed.
		if a != b {
			t.Errorf("%s: a is %s and b is %s", name, a, b)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// write counts in two databases, each step in both before either is committed.
func (s *site) write(ctx context.Context, stop <-chan struct{}) error {
	var dbs []*sql.DB
	for _, name := range []string{"platform.db", "site.db"} {
		db, err := open(filepath.Join(s.dir, name), "_pragma=busy_timeout(20000)&_txlock=immediate")
		if err != nil {
			return err
		}
		defer db.Close()
		dbs = append(dbs, db)
	}
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		a, err := dbs[0].BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		b, err := dbs[1].BeginTx(ctx, nil)
		if err != nil {
			return errors.Join(err, a.Rollback())
		}
		_, errA := a.ExecContext(ctx, "UPDATE t SET v = v + 1")
		_, errB := b.ExecContext(ctx, "UPDATE t SET v = v + 1")
		if err := errors.Join(errA, errB, b.Commit(), a.Commit()); err != nil {
			return err
		}
		<-time.After(turn)
	}
}

// turn is how long a constant writer leaves the lock to others, which try for it at intervals.
const turn = 2 * time.Millisecond
