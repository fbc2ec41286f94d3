package main

import (
	"bytes"
	"crypto/md5" // the checksum of dpkg
	"fmt"
	"strings"
	"time"
)

// debian writes a Debian package: an ar archive of two tarballs (deb(5)).
func (r *release) debian(p platform, program []byte, extras []entry) error {
	files := []entry{{"usr/bin/pages", program, 0o755}}
	for _, e := range extras {
		switch {
		case strings.HasPrefix(e.name, "share/man/"):
			page, err := compressGzip(e.text)
			if err != nil {
				return err
			}
			files = append(files, entry{"usr/" + e.name + ".gz", page, 0o644})
		case strings.HasPrefix(e.name, "share/zsh/site-functions/"):
			files = append(files, entry{"usr/share/zsh/vendor-completions/_pages", e.text, 0o644})
		case strings.HasPrefix(e.name, "share/"):
			files = append(files, entry{"usr/" + e.name, e.text, 0o644})
		case e.name == "LICENSE":
			files = append(files, entry{"usr/share/doc/pages/copyright", e.text, 0o644})
		case e.name == noticesName:
			files = append(files, entry{"usr/share/doc/pages/" + noticesName, e.text, 0o644})
		}
	}
	var sums strings.Builder
	size := 0
	for _, f := range sortEntries(files) {
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.text), f.name)
		size += len(f.text)
	}
	version := strings.ReplaceAll(r.version, "-", "~")
	control := fmt.Sprintf(`Package: pages
Version: %s
Architecture: %s
Maintainer: The pages authors <noreply@users.noreply.github.com>
Installed-Size: %d
Section: web
Priority: optional
Recommends: ca-certificates
Homepage: https://github.com/pages-toolchain/pages
Description: build, run and publish sites of the Workspace platform
 One program that checks a site's manifest, bundles its Worker, applies its
 migrations, runs the whole site on this machine and publishes it.
`, version, p.arch, (size+1023)/1024)
	about := []entry{{"control", []byte(control), 0o644}, {"md5sums", []byte(sums.String()), 0o644}}
	for _, list := range [][]entry{files, about} {
		for i := range list {
			list[i].name = "./" + list[i].name
		}
	}
	head, err := tarball(about, r.time)
	if err != nil {
		return err
	}
	data, err := tarball(files, r.time)
	if err != nil {
		return err
	}
	// dpkg asks for this order.
	parts := []entry{{"debian-binary", []byte("2.0\n"), 0o644}, {"control.tar.gz", head, 0o644}, {"data.tar.gz", data, 0o644}}
	return r.write(fmt.Sprintf("pages_%s_%s.deb", version, p.arch), arArchive(parts, r.time))
}

// arArchive makes an archive of the form that ar(5) describes.
func arArchive(parts []entry, at time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", p.name, at.Unix(), 0, 0, 0o100000|p.mode.Perm(), len(p.text))
		b.Write(p.text)
		if len(p.text)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
