package filewatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// point changes the target of a link in one step, as deploys by links do.
func point(t *testing.T, link, target string) {
	t.Helper()
	testmachine.Link(t, target, link+".new")
	rename(t, link+".new", link)
}

// TestRepointedLink: a folder of the list that is a link, or has one in its path, means the link's current target.
func TestRepointedLink(t *testing.T) {
	for _, test := range []struct {
		name, listed, link string
		targets            [2]string // of link
		files              [2]string // files of the listed folder then
	}{
		{"the folder", "dist", "dist", [2]string{"builds/1", "builds/2"}, [2]string{"builds/1", "builds/2"}},
		{"above the folder", "current/public", "current", [2]string{"r/1", "r/2"}, [2]string{"r/1/public", "r/2/public"}},
		{"a link of a link", "dist", "stable/now", [2]string{"1", "2"}, [2]string{"stable/1", "stable/2"}},
	} {
		for _, polled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/polled=%v", test.name, polled), func(t *testing.T) {
				dir := siteDir(t)
				for _, each := range test.files {
					for _, name := range []string{"index.html", "css/site.css"} {
						path := filepath.Join(dir, each, name)
						write(t, path, "1")
						age(t, path)
					}
				}
				at := func(name string) string { return filepath.Join(dir, test.listed, name) }
				point(t, filepath.Join(dir, test.link), test.targets[0])
				if test.listed != test.link && test.listed == "dist" {
					testmachine.Link(t, "stable/now", filepath.Join(dir, test.listed))
				}
				w := New(Options{})
				if polled {
					w.poll = Poll{Every: 20 * time.Millisecond}
					w.fallBack(errors.New("no watches left"))
				}
				startWatcher(t, w, filepath.Join(dir, test.listed), at("css"))
				write(t, at("index.html"), "22")
				awaitPath(t, w, at("index.html"))
				point(t, filepath.Join(dir, test.link), test.targets[1])
				if polled {
					awaitPath(t, w, filepath.Join(dir, test.listed))
				} else {
					awaitPath(t, w, at("index.html"))
				}
				for _, name := range []string{"index.html", "css/site.css", "later.html"} {
					write(t, filepath.Join(dir, test.files[1], name), "333")
					awaitPath(t, w, at(name))
				}
			})
		}
	}
}

// TestLinkedFile: with polling, a link in the list changes with its target.
func TestLinkedFile(t *testing.T) {
	dir := siteDir(t)
	link, target := filepath.Join(dir, "public/page.html"), filepath.Join(dir, "content/page.html")
	write(t, target, "1")
	testmachine.Link(t, target, link)
	before, ok := stampAt(link)
	write(t, target, "22")
	if after, still := stampAt(link); !ok || !still || after == before {
		t.Errorf("%v, %v", before, after)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if _, ok := stampAt(link); !ok {
		t.Error("a link that leads nowhere is no file")
	}
}
