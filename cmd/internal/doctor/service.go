package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// checkService calls the service, as pages whoami does: with the address and key of
// the environment, the site's link or a login.
func (d *examination) checkService(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	session, err := remote.Open(ctx, d.options.Remote)
	f, failed := errors.AsType[*failure.Error](err)
	switch {
	case failed && f.Code == "no-address":
		return notLooked("service", "none is chosen: see pages login")
	case failed && f.Code == "no-key":
		return warns("service", f.Fix, "%s", f.Message)
	}
	var who remote.Identity
	if err == nil {
		who, err = session.Who(ctx)
	}
	if f, failed = errors.AsType[*failure.Error](err); failed {
		return breaks("service", f.Fix, "%s", f.Message)
	}
	if err != nil {
		return breaks("service", "check the address and the network", "%s", err)
	}
	workspace := who.Workspace
	if workspace == "" {
		workspace = "no workspace chosen"
	}
	return well("service", "%s accepts the key %s (%s)", who.BaseURL, who.Key, workspace)
}

// checkBlobs reads the files of all revisions in a service's data folder.
func (d *examination) checkBlobs(ctx context.Context) (found []Finding) {
	dir := platform.Location{WorkDir: userfile.WorkDir(d.options.Term.Dir), Given: d.options.Data}.Dir()
	if !userfile.IsFile(filepath.Join(dir, platform.DatabaseFile)) {
		return breaks("blobs", "name the folder of the service's data: --data FOLDER", "there is no data of pages platform in %s",
			wording.QuotePath(d.options.Term.Shown(dir)))
	}
	s, err := platform.Folder{Dir: dir}.Open(ctx, service.Options{Now: d.options.Term.Now})
	if err != nil {
		return breaks("blobs", "", "%s", err)
	}
	v, err := s.Verify(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		return breaks("blobs", "", "the files of the service cannot be verified: %s", err)
	}
	if len(v.Damaged) == 0 {
		return well("blobs", "%d files of %d revisions match their hashes, %d bytes", v.Files, v.Revisions, v.Bytes)
	}
	for i, file := range v.Damaged {
		if i == 20 {
			return append(found, breaks("blobs", "", "%d more files are damaged", len(v.Damaged)-i)...)
		}
		found = append(found, damageOf(file))
	}
	return found
}

// damageOf returns the finding of a damaged file.
func damageOf(file service.DamagedFile) Finding {
	sites := make([]string, len(file.Shown))
	for i, s := range file.Shown {
		sites[i] = fmt.Sprintf("%s of %s", s.Revision, wording.Printable(s.Site))
	}
	f := Finding{
		Check: "blobs", Status: Broken,
		Message: fmt.Sprintf("%s %s; it is of %s", file.Name, file.Problem, strings.Join(sites, ", ")),
	}
	const again = "pages deploy --preview, in the folder of the site as it was deployed, sends the file again"
	if file.Missing {
		f.Fix = again
		return f
	}
	f.Message += ". Once it is set aside, " + again
	f.mend = func(context.Context) error { return file.SetAside() }
	return f
}
