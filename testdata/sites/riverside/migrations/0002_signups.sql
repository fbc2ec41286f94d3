-- A place in a boat on one day. The two triggers keep the promises that code
-- forgets: no boat is overfilled, and every change leaves a line behind.
CREATE TABLE signups (
  id         TEXT PRIMARY KEY,
  outing_id  TEXT NOT NULL REFERENCES outings (id) ON DELETE CASCADE,
  day        TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  name       TEXT NOT NULL,
  email      TEXT NOT NULL COLLATE NOCASE,
  note       TEXT NOT NULL DEFAULT '',
  member_id  TEXT,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  UNIQUE (outing_id, day, email)
) STRICT;

CREATE TABLE audit_log (
  id      INTEGER PRIMARY KEY,
  at      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  event   TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail  TEXT NOT NULL
) STRICT;

CREATE TRIGGER signups_within_places
BEFORE INSERT ON signups
WHEN (SELECT count(*) FROM signups WHERE outing_id = NEW.outing_id AND day = NEW.day)
  >= (SELECT places FROM outings WHERE id = NEW.outing_id)
BEGIN
  SELECT RAISE(ABORT, 'the boat is full; try another day');
END;

CREATE TRIGGER signups_audit
AFTER INSERT ON signups
BEGIN
  INSERT INTO audit_log (event, subject, detail)
  VALUES (
    'signup',
    NEW.id,
    CASE WHEN NEW.member_id IS NULL THEN 'guest' ELSE 'member' END || '; ' || NEW.outing_id || ' on ' || NEW.day
  );
END;
