-- What the forms of published pages captured, and the events that were raised. Each page
-- has its own first; from there it is brought here once, in its order.
CREATE TABLE leads (
  seq          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  site_id      TEXT NOT NULL REFERENCES sites,
  form         TEXT NOT NULL,
  fields       TEXT NOT NULL, -- JSON, in the visitor's order
  events       TEXT NOT NULL, -- JSON: id and name of each, in order
  created_at   INTEGER NOT NULL,
  preview      INTEGER NOT NULL
);
CREATE INDEX leads_of_workspace ON leads (workspace_id, created_at, id);
CREATE INDEX leads_of_site ON leads (site_id, created_at, id);

-- How far each page's leads were brought here: the page's own number of the last.
CREATE TABLE leads_brought (
  site_id TEXT PRIMARY KEY REFERENCES sites,
  last    INTEGER NOT NULL
) WITHOUT ROWID;
