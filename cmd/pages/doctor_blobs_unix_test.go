//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/doctor"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// TestDoctorVerify: doctor finds damage to uploaded files while the service runs, with the revisions that have them; sending the files
// again repairs it.
func TestDoctorVerify(t *testing.T) {
	data := t.TempDir()
	service := startPlatform(t, data)
	p := &publisher{t, manyFiles(t, 12, 1), t.TempDir(), service.URL, service.Keys["member"]}
	address := p.publish("--site", "Open studio")
	verify := func(args ...string) (code int, found []doctor.Finding) {
		t.Helper()
		code, stdout, stderr := p.run(append([]string{"doctor", "--json", "--verify", "--data", data}, args...)...)
		var doc doctor.Document
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatalf("%v: %s%s", err, stdout, stderr)
		}
		for _, f := range doc.Checks {
			if f.Check == "blobs" {
				found = append(found, f)
			}
		}
		return code, found
	}
	if code, found := verify(); code != 0 || len(found) != 1 || found[0].Status != doctor.Healthy ||
		!strings.Contains(found[0].Message, " match their hashes, ") {
		t.Fatalf("exit code %d: %+v", code, found)
	}

	blob := func(file string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(p.dir, "public", file))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		name := hex.EncodeToString(sum[:])
		all, err := filepath.Glob(filepath.Join(data, "blobs", "*", name[:2], name[2:]))
		if err != nil || len(all) != 1 {
			t.Fatalf("%s is kept as %q, %v", file, all, err)
		}
		return all[0]
	}
	flipped, cut, gone := blob("d00/f0000.txt"), blob("d01/f0001.txt"), blob("d02/f0002.txt")
	text, err := os.ReadFile(flipped)
	if err != nil {
		t.Fatal(err)
	}
	text[0] ^= 1
	if err := errors.Join(os.WriteFile(flipped, text, 0o600), os.Truncate(cut, 3), os.Remove(gone)); err != nil {
		t.Fatal(err)
	}
	problems := map[string]string{
		flipped: "differs from the upload", cut: "has a different length than the upload", gone: "is missing",
	}
	told := func(found []doctor.Finding, status map[string]doctor.Verdict) {
		t.Helper()
		if len(found) != len(problems) {
			t.Fatalf("%+v", found)
		}
		for file, problem := range problems {
			name, err := filepath.Rel(data, file)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(found, func(f doctor.Finding) bool {
				return strings.HasPrefix(f.Message, name+" "+problem+"; it is of r2-")
			})
			if i < 0 || found[i].Status != status[file] || !strings.Contains(found[i].Message, " of Open studio") ||
				!strings.Contains(found[i].Message+found[i].Fix, "pages deploy --preview") {
				t.Errorf("%s: %+v", name, found)
			}
		}
	}
	code, found := verify()
	if code != failure.ExitRefused {
		t.Errorf("exit code %d", code)
	}
	told(found, map[string]doctor.Verdict{flipped: doctor.Broken, cut: doctor.Broken, gone: doctor.Broken})
	code, found = verify("--fix")
	if code != failure.ExitRefused {
		t.Errorf("exit code %d with a file that is missing", code)
	}
	told(found, map[string]doctor.Verdict{flipped: doctor.Fixed, cut: doctor.Fixed, gone: doctor.Broken})

	if code, stdout, stderr := p.run("deploy", "--preview"); code != 0 || !strings.Contains(stderr, "sent 3 files") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	if code, found := verify(); code != 0 || len(found) != 1 {
		t.Errorf("exit code %d: %+v", code, found)
	}
	served(t, service.URL, address, p.dir, "")

	if code, _, stderr := p.run("doctor", "--data", data); code != failure.ExitUsage ||
		!strings.Contains(stderr, "--data needs --verify") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, stdout, _ := p.run("doctor", "--verify"); code != failure.ExitRefused ||
		!strings.Contains(stdout, "there is no data of pages platform") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}
