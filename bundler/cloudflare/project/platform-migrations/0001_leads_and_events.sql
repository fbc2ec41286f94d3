-- What forms captured. A lead and its events are written in one transaction.
CREATE TABLE leads (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT,
  id                TEXT NOT NULL UNIQUE,
  form              TEXT NOT NULL,
  fields            TEXT NOT NULL,
  created_at        INTEGER NOT NULL, -- milliseconds since 1970
  token             TEXT,             -- the visitor's idempotency key
  submission_table  TEXT NOT NULL,
  submission_status TEXT NOT NULL,
  submission_error  TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE UNIQUE INDEX leads_token ON leads (form, token) WHERE token IS NOT NULL;

CREATE TABLE events (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL,
  lead_id    TEXT NOT NULL REFERENCES leads (id),
  created_at INTEGER NOT NULL
) STRICT;
