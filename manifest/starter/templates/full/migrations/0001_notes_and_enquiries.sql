CREATE TABLE notes (
  id         INTEGER PRIMARY KEY,
  body       TEXT NOT NULL CHECK (length(body) BETWEEN 1 AND 500),
  author     TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

-- Forms write their rows here, too. Answers without a column of their name are in the lead only.
CREATE TABLE enquiries (
  id         INTEGER PRIMARY KEY,
  lead_id    TEXT UNIQUE,
  name       TEXT NOT NULL DEFAULT '',
  email      TEXT NOT NULL DEFAULT '',
  message    TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
