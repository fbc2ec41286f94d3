-- A newer proposal of the same holder about the same thing replaces an older one. subject is that thing; '' is never replaced.
ALTER TABLE proposals ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE proposals ADD COLUMN replaced_at INTEGER;

-- What made proposals stale, so that those who would have approved them learn why: each change of a site or a domain, by
-- the version that it made.
CREATE TABLE changes (
  subject TEXT NOT NULL, -- 'site ' or 'domain ' and its id
  version INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  what    TEXT NOT NULL, -- a clause, such as 'revision r3 went live'
  PRIMARY KEY (subject, version)
) WITHOUT ROWID;
CREATE INDEX changes_by_age ON changes (at);
