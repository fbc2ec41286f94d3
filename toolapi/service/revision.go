package service

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// blobsIn is the folder of the blobs in a data folder.
func blobsIn(dir string) string { return filepath.Join(dir, "blobs") }

// store is where blobs are. It is opened when it is first needed, which is never for an
// operator's command: opening clears away what nobody finished.
func (s *Service) store() (*blob.Store, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.blobs != nil {
		return s.blobs, nil
	}
	store, err := blob.Open(blobsIn(s.dir), s.Notice)
	if err != nil {
		return nil, fmt.Errorf("open the blobs: %w", err)
	}
	s.blobs = store
	return store, nil
}

// loaded is a revision with its bundle.
type loaded struct {
	row    int64 // of the bundle
	bundle *bundle.Bundle
	made   int64 // when
}

// load reads a revision of a site; false when there is none, or one that has no
// contents.
func (t tx) load(site, revision string) (l loaded, ok bool, err error) {
	var text, packed []byte
	ok, err = t.queryOne("SELECT b.id, b.manifest, b.files, r.created_at FROM revisions r JOIN bundles b ON b.id = "+
		"r.bundle_id WHERE r.site_id = ? AND r.name = ?",
		[]any{site, revision}, &l.row, &text, &packed, &l.made)
	if err != nil || !ok {
		return l, ok, err
	}
	list, err := unpackFiles(packed)
	if err != nil {
		return l, false, fmt.Errorf("read the files of revision %s: %w", revision, err)
	}
	files := make([]sitefile.File, len(list))
	for i, f := range list {
		files[i] = sitefile.File{Path: f.Path, SHA256: string(f.SHA256), Size: int64(f.Size), ContentType: string(f.ContentType)}
	}
	// It passed when it was uploaded, maybe by an older program's rules.
	if l.bundle, err = bundle.New(text, files); err != nil {
		return l, false, fmt.Errorf("read revision %s: %w", revision, err)
	}
	return l, true, nil
}

// query are the parameters of a request that has them in its address. Each may be
// given once, and others not at all.
func (p *pagesCall) query(names ...string) (map[string]string, error) {
	values, err := url.ParseQuery(p.x.r.URL.RawQuery)
	if err != nil {
		return nil, badArguments([]toolapi.Issue{{Path: "the query", Message: "is malformed"}})
	}
	found := map[string]string{}
	for _, name := range names {
		if given := values[name]; len(given) == 1 {
			found[name] = given[0]
			delete(values, name)
		}
	}
	for name := range values {
		return nil, badArguments([]toolapi.Issue{{Path: name, Message: "is not known, or given twice"}})
	}
	return found, nil
}

// siteOfQuery finds the site that the address of a request names.
func (p *pagesCall) siteOfQuery(t tx) (siteRow, error) {
	q, err := p.query("site_id", "workspace")
	if err != nil {
		return siteRow{}, err
	}
	if q["site_id"] == "" {
		return siteRow{}, badArguments([]toolapi.Issue{{Path: "site_id", Message: "is required in the query"}})
	}
	if issues := toolapi.CheckUUID(q["site_id"], "site_id"); len(issues) > 0 {
		return siteRow{}, badArguments(issues)
	}
	if slug, given := q["workspace"]; given && slug == "" {
		return siteRow{}, badArguments([]toolapi.Issue{{Path: "workspace", Message: "must not be empty"}})
	}
	if err := p.enterWorkspace(t, q["workspace"]); err != nil {
		return siteRow{}, err
	}
	return p.pagesSite(toolapi.UUID(q["site_id"]))
}

// readRevision is GET /pages/revisions/{revision}.
func (p *pagesCall) readRevision() error {
	result := &toolapi.Revision{}
	err := p.service.db.read(p.x.r.Context(), func(t tx) error {
		s, err := p.siteOfQuery(t)
		if err != nil {
			return err
		}
		l, ok, err := t.load(s.id, p.id)
		if err != nil {
			return err
		}
		if !ok {
			return toolapi.NewPagesError(toolapi.CodeRevisionNotFound, "The site has no such revision.")
		}
		*result = toolapi.Revision{
			SiteID: s.id, Revision: p.id, BundleDigest: "sha256:" + l.bundle.Digest, Live: s.live.String == p.id,
			CreatedAt: formatTime(l.made),
			Manifest:  l.bundle.Text, Bytes: l.bundle.Bytes(), Files: make([]toolapi.UploadFile, len(l.bundle.Files)),
		}
		for i, f := range l.bundle.Files {
			result.Files[i] = toolapi.UploadFile{
				Path: f.Path, SHA256: toolapi.Digest(f.SHA256), Size: toolapi.Counter(f.Size),
				ContentType: toolapi.MediaType(f.ContentType),
			}
		}
		result.Fill(p.as)
		return nil
	})
	if err != nil {
		return err
	}
	return p.giveResult(http.StatusOK, result)
}

// revisions is page.revisions.
func (c *call) revisions(args toolapi.SiteArgs) (toolapi.RevisionList, error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return toolapi.RevisionList{}, err
	}
	of, err := c.revisionsOf([]string{s.id}, math.MaxInt32, c.now)
	return toolapi.RevisionList{SiteID: s.id, Revisions: of[s.id].newest}, err
}

// revisionsOfSite are the newest revisions of a page, and how many it has in all.
type revisionsOfSite struct {
	newest []toolapi.RevisionSummary
	total  int
}

// revisionsOf are the newest revisions of pages, at most so many of each.
func (t tx) revisionsOf(sites []string, most int, now time.Time) (map[string]revisionsOfSite, error) {
	ids, err := json.Marshal(sites)
	if err != nil {
		return nil, err
	}
	of := map[string]revisionsOfSite{}
	for _, id := range sites {
		of[id] = revisionsOfSite{newest: []toolapi.RevisionSummary{}}
	}
	_, err = list(t, func(rows *sql.Rows, r *toolapi.RevisionSummary) error {
		var site string
		var total int
		var created int64
		var published sql.NullInt64
		err := rows.Scan(&site, &total, &r.Revision, &created, &r.Files, &r.Bytes, &r.Live, &r.Scheduled, &r.Previewed, &published)
		r.CreatedAt, r.PublishedAt = formatTime(created), formatOptionalTime(published)
		of[site] = revisionsOfSite{append(of[site].newest, *r), total}
		return err
	},
		`SELECT r.site_id, r.total, r.name, r.created_at, coalesce(b.file_count, 0), coalesce(b.bytes, 0),
		s.live_revision IS r.name, n.revision IS r.name,
		EXISTS (SELECT 1 FROM previews p WHERE p.site_id = r.site_id AND p.revision = r.name AND p.expires_at > ?),
		(SELECT max(at) FROM publishes p WHERE p.site_id = r.site_id AND p.revision = r.name)
		FROM (SELECT *, row_number() OVER (PARTITION BY site_id ORDER BY number DESC) AS place,
			count(*) OVER (PARTITION BY site_id) AS total
			FROM revisions WHERE site_id IN (SELECT value FROM json_each(?))) r
		JOIN sites s ON s.id = r.site_id LEFT JOIN schedules n ON n.site_id = r.site_id LEFT JOIN bundles b ON b.id = r.bundle_id
		WHERE r.place <= ? ORDER BY r.number DESC`, now.UnixMilli(), string(ids), most)
	return of, err
}
