-- Previews with a name. Its link is the row of previews with its id; the links to its revisions have named_id, too.
CREATE TABLE named_previews (
  id         TEXT PRIMARY KEY,
  site_id    TEXT NOT NULL REFERENCES sites,
  name       TEXT NOT NULL,
  revision   TEXT NOT NULL,
  data       TEXT NOT NULL CHECK (data IN ('copy', 'empty', 'seed')),
  data_id    TEXT NOT NULL UNIQUE, -- of its databases: another one when they begin anew
  seed       TEXT NOT NULL DEFAULT '',
  migrations TEXT NOT NULL, -- that its data have, as JSON: [{"name", "sha256"}]
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (site_id, name)
) WITHOUT ROWID;
ALTER TABLE previews ADD COLUMN named_id TEXT;
CREATE INDEX previews_of_name ON previews (named_id) WHERE named_id IS NOT NULL;
