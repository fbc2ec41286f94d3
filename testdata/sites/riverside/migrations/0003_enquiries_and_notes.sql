-- Form posts land here beside the platform's own inbox: columns that a form has
-- no field for keep their default, and fields without a column stay in "fields".
CREATE TABLE enquiries (
  id         INTEGER PRIMARY KEY,
  lead_id    TEXT UNIQUE,
  form       TEXT NOT NULL DEFAULT 'unknown',
  name       TEXT NOT NULL DEFAULT '',
  email      TEXT NOT NULL DEFAULT '',
  message    TEXT NOT NULL DEFAULT '',
  fields     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(fields)),
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE INDEX enquiries_by_form ON enquiries (form, created_at);

CREATE TRIGGER enquiries_audit
AFTER INSERT ON enquiries
BEGIN
  INSERT INTO audit_log (event, subject, detail) VALUES ('enquiry', NEW.id, NEW.form);
END;

-- The members' notice board.
CREATE TABLE notes (
  id         TEXT PRIMARY KEY,
  author_id  TEXT NOT NULL,
  author     TEXT NOT NULL,
  body       TEXT NOT NULL CHECK (length(body) BETWEEN 1 AND 500),
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE INDEX notes_newest_first ON notes (created_at DESC);
