-- What pages are published from: bundles, uploads, preview links, secrets.

-- A bundle is a manifest and its files. Nothing refers to it since released_at.
CREATE TABLE bundles (
  id           INTEGER PRIMARY KEY AUTOINCREMENT, -- no id is used twice
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  digest       TEXT NOT NULL,
  manifest     BLOB NOT NULL, -- canonical JSON, as it was uploaded
  files        BLOB NOT NULL, -- JSON, gzipped
  blobs        BLOB NOT NULL, -- SHA-256 and size of each blob, sorted, 40 bytes each
  file_count   INTEGER NOT NULL,
  bytes        INTEGER NOT NULL,
  released_at  INTEGER,
  UNIQUE (workspace_id, digest)
);
ALTER TABLE revisions ADD COLUMN bundle_id INTEGER REFERENCES bundles;
CREATE INDEX revisions_of_bundle ON revisions (bundle_id);

CREATE TABLE uploads (
  id            TEXT PRIMARY KEY,
  holder_id     INTEGER NOT NULL REFERENCES holders,
  workspace_id  INTEGER NOT NULL REFERENCES workspaces,
  site_id       TEXT NOT NULL REFERENCES sites,
  bundle_id     INTEGER REFERENCES bundles, -- NULL when it has expired and is only remembered
  base_given    INTEGER NOT NULL,
  base_revision TEXT,
  revision      TEXT, -- the revision that it became
  created_at    INTEGER NOT NULL,
  touched_at    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX uploads_of_site ON uploads (site_id, bundle_id);
CREATE INDEX uploads_of_bundle ON uploads (bundle_id);
CREATE INDEX uploads_by_age ON uploads (touched_at);

-- Migrations that were applied to a site's database by what was published.
CREATE TABLE site_migrations (
  site_id TEXT NOT NULL REFERENCES sites,
  name    TEXT NOT NULL,
  PRIMARY KEY (site_id, name)
) WITHOUT ROWID;

-- Of a token only its SHA-256 is kept. label is the first part of the preview's host.
CREATE TABLE previews (
  id           TEXT PRIMARY KEY,
  label        TEXT NOT NULL UNIQUE,
  hash         BLOB NOT NULL,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  site_id      TEXT NOT NULL REFERENCES sites,
  revision     TEXT NOT NULL,
  holder_id    INTEGER NOT NULL REFERENCES holders,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX previews_of_site ON previews (site_id, revision);
CREATE INDEX previews_by_expiry ON previews (expires_at);

-- Values are encrypted with a key that is not in this file.
CREATE TABLE secrets (
  site_id TEXT NOT NULL REFERENCES sites,
  name    TEXT NOT NULL,
  value   BLOB NOT NULL,
  set_at  INTEGER NOT NULL,
  PRIMARY KEY (site_id, name)
) WITHOUT ROWID;

-- Links that sign a member in on a page, once. Of a token only its SHA-256 is kept.
CREATE TABLE sign_in_links (
  hash       BLOB PRIMARY KEY,
  site_id    TEXT NOT NULL REFERENCES sites,
  holder_id  INTEGER NOT NULL REFERENCES holders,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sign_in_links_by_expiry ON sign_in_links (expires_at);
