-- Who rows in which boat, and when the club goes out. An outing repeats every
-- week: the Worker works out the next day it falls on.
CREATE TABLE crews (
  id      TEXT PRIMARY KEY,
  name    TEXT NOT NULL,
  squad   TEXT NOT NULL,
  boat    TEXT NOT NULL,
  captain TEXT NOT NULL
) STRICT;

CREATE TABLE seats (
  crew_id TEXT NOT NULL REFERENCES crews (id) ON DELETE CASCADE,
  seat    INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 8), -- 0 is the cox, 1 is bow
  rower   TEXT NOT NULL,
  PRIMARY KEY (crew_id, seat)
) STRICT, WITHOUT ROWID;

CREATE TABLE outings (
  id      TEXT PRIMARY KEY,
  title   TEXT NOT NULL,
  weekday INTEGER NOT NULL CHECK (weekday BETWEEN 0 AND 6), -- 0 is Sunday
  starts  TEXT NOT NULL CHECK (starts GLOB '[0-2][0-9]:[0-5][0-9]'),
  minutes INTEGER NOT NULL CHECK (minutes > 0),
  level   TEXT NOT NULL CHECK (level IN ('learn', 'social', 'race')),
  boat    TEXT NOT NULL,
  crew_id TEXT REFERENCES crews (id),
  places  INTEGER NOT NULL CHECK (places > 0),
  summary TEXT NOT NULL
) STRICT;

CREATE INDEX outings_by_weekday ON outings (weekday, starts);
