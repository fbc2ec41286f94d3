-- The service's own database. Times are milliseconds since 1970 in UTC; ids that
-- clients see are text.

CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE accounts (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL UNIQUE,
  api_enabled INTEGER NOT NULL DEFAULT 1
);

CREATE TABLE workspaces (
  id        INTEGER PRIMARY KEY,
  slug      TEXT NOT NULL UNIQUE,
  name      TEXT NOT NULL,
  time_zone TEXT NOT NULL DEFAULT 'UTC'
);

-- Who a key acts for: a person, or a service account.
CREATE TABLE holders (
  id                INTEGER PRIMARY KEY,
  account_id        INTEGER NOT NULL REFERENCES accounts,
  service           INTEGER NOT NULL DEFAULT 0,
  email             TEXT NOT NULL UNIQUE,
  name              TEXT NOT NULL,
  api_access        INTEGER NOT NULL DEFAULT 1,
  default_workspace INTEGER REFERENCES workspaces
);

CREATE TABLE memberships (
  holder_id    INTEGER NOT NULL REFERENCES holders,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  role         TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
  PRIMARY KEY (holder_id, workspace_id)
) WITHOUT ROWID;

-- A key itself is not kept: only its SHA-256, and enough of its start to tell it.
CREATE TABLE keys (
  id           INTEGER PRIMARY KEY,
  hash         BLOB NOT NULL UNIQUE,
  prefix       TEXT NOT NULL,
  name         TEXT NOT NULL,
  holder_id    INTEGER NOT NULL REFERENCES holders,
  pin          INTEGER REFERENCES workspaces,
  per_minute   INTEGER CHECK (per_minute > 0),
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER,
  last_used_at INTEGER
);

CREATE TABLE audit (
  id           INTEGER PRIMARY KEY,
  at           INTEGER NOT NULL,
  request_id   TEXT NOT NULL,
  workspace_id INTEGER REFERENCES workspaces,
  holder_id    INTEGER REFERENCES holders,
  key_id       INTEGER REFERENCES keys,
  tool         TEXT NOT NULL,
  outcome      TEXT NOT NULL CHECK (outcome IN ('proposed', 'done', 'repeated', 'refused')),
  code         TEXT NOT NULL DEFAULT '',
  summary      TEXT NOT NULL DEFAULT ''
);
CREATE INDEX audit_of_workspace ON audit (workspace_id, id);

CREATE TABLE proposals (
  id           TEXT PRIMARY KEY,
  tool         TEXT NOT NULL,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  holder_id    INTEGER NOT NULL REFERENCES holders,
  fingerprint  BLOB NOT NULL,
  target       TEXT NOT NULL,
  summary      TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  answer       TEXT,
  confirmed_by INTEGER REFERENCES holders
) WITHOUT ROWID;
CREATE INDEX proposals_of_holder ON proposals (holder_id, workspace_id, created_at);
CREATE INDEX proposals_by_expiry ON proposals (expires_at);

-- First answers to idempotency keys.
CREATE TABLE answers (
  holder_id    INTEGER NOT NULL REFERENCES holders,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  tool         TEXT NOT NULL,
  key          TEXT NOT NULL,
  fingerprint  BLOB NOT NULL,
  answer       TEXT NOT NULL,
  refusal      INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  PRIMARY KEY (holder_id, workspace_id, tool, key)
) WITHOUT ROWID;
CREATE INDEX answers_by_age ON answers (created_at);

CREATE TABLE pieces (
  id             TEXT PRIMARY KEY,
  workspace_id   INTEGER NOT NULL REFERENCES workspaces,
  title          TEXT NOT NULL,
  format         TEXT NOT NULL CHECK (format IN ('posts', 'stories', 'shorts_clips', 'long_form', 'articles', 'podcast')),
  status         TEXT NOT NULL CHECK (status IN ('draft', 'variants_in_progress', 'ready', 'approved', 'scheduled', 'publishing', 'published', 'verified', 'failed')),
  scheduled_for  INTEGER,
  published_at   INTEGER,
  failure_reason TEXT,
  variants       TEXT NOT NULL DEFAULT '[]',
  updated_at     INTEGER NOT NULL
);
CREATE INDEX pieces_newest ON pieces (workspace_id, updated_at DESC, id DESC);
CREATE INDEX pieces_by_status ON pieces (workspace_id, status, updated_at DESC, id DESC);
CREATE INDEX pieces_by_format ON pieces (workspace_id, format, updated_at DESC, id DESC);
CREATE INDEX pieces_by_both ON pieces (workspace_id, status, format, updated_at DESC, id DESC);
CREATE INDEX pieces_of_week ON pieces (workspace_id, scheduled_for) WHERE scheduled_for IS NOT NULL;

-- How many pieces there are, so that a page need not count them.
CREATE TABLE piece_counts (
  workspace_id INTEGER NOT NULL,
  status       TEXT NOT NULL,
  format       TEXT NOT NULL,
  n            INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, status, format)
) WITHOUT ROWID;
CREATE TRIGGER piece_added AFTER INSERT ON pieces BEGIN
  INSERT INTO piece_counts VALUES (new.workspace_id, new.status, new.format, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER piece_removed AFTER DELETE ON pieces BEGIN
  UPDATE piece_counts SET n = n - 1
    WHERE workspace_id = old.workspace_id AND status = old.status AND format = old.format;
END;
CREATE TRIGGER piece_changed AFTER UPDATE OF workspace_id, status, format ON pieces BEGIN
  UPDATE piece_counts SET n = n - 1
    WHERE workspace_id = old.workspace_id AND status = old.status AND format = old.format;
  INSERT INTO piece_counts VALUES (new.workspace_id, new.status, new.format, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- How many pieces of a format a week has, where the format is planned at all.
CREATE TABLE cadence (
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  format       TEXT NOT NULL,
  per_week     INTEGER NOT NULL CHECK (per_week > 0),
  position     INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, format)
) WITHOUT ROWID;

-- version counts the changes that make a proposal about the site stale.
CREATE TABLE sites (
  id            TEXT PRIMARY KEY,
  workspace_id  INTEGER NOT NULL REFERENCES workspaces,
  name          TEXT NOT NULL,
  live_revision TEXT,
  version       INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX sites_of_workspace ON sites (workspace_id);

CREATE TABLE revisions (
  site_id    TEXT NOT NULL REFERENCES sites,
  number     INTEGER NOT NULL,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (site_id, number),
  UNIQUE (site_id, name)
) WITHOUT ROWID;

CREATE TABLE publishes (
  id         INTEGER PRIMARY KEY,
  site_id    TEXT NOT NULL REFERENCES sites,
  revision   TEXT NOT NULL,
  previous   TEXT,
  at         INTEGER NOT NULL,
  request_id TEXT NOT NULL
);
CREATE INDEX publishes_of_site ON publishes (site_id, id);

CREATE TABLE schedules (
  site_id    TEXT PRIMARY KEY REFERENCES sites,
  at         INTEGER NOT NULL,
  revision   TEXT NOT NULL,
  holder_id  INTEGER NOT NULL REFERENCES holders,
  key_id     INTEGER NOT NULL REFERENCES keys,
  request_id TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX schedules_by_time ON schedules (at);

-- provided: the address that the service gave to its page. active: the name
-- resolves to the service.
CREATE TABLE domains (
  id           TEXT PRIMARY KEY,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  hostname     TEXT NOT NULL UNIQUE,
  site_id      TEXT NOT NULL REFERENCES sites,
  provided     INTEGER NOT NULL DEFAULT 0,
  active       INTEGER NOT NULL DEFAULT 1,
  version      INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX domains_of_workspace ON domains (workspace_id, hostname);
CREATE UNIQUE INDEX domains_provided ON domains (site_id) WHERE provided;

-- A draft is the state at its position; states after it can be redone. Every
-- change, undo included, takes the next revision.
CREATE TABLE boards (
  id           TEXT PRIMARY KEY,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  display_name TEXT NOT NULL,
  status       TEXT NOT NULL DEFAULT 'draft',
  revision     INTEGER NOT NULL DEFAULT 0,
  position     INTEGER NOT NULL DEFAULT 0,
  running      TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID;
CREATE TABLE board_states (
  board_id TEXT NOT NULL REFERENCES boards,
  position INTEGER NOT NULL,
  state    TEXT NOT NULL,
  PRIMARY KEY (board_id, position)
) WITHOUT ROWID;

CREATE TABLE tiles (
  id           TEXT PRIMARY KEY,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  competitor   TEXT NOT NULL,
  shape        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  length       TEXT NOT NULL
) WITHOUT ROWID;
-- The workspace's own words, which a borrowed shape is filled with.
CREATE TABLE own_lines (
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  position     INTEGER NOT NULL,
  title        TEXT NOT NULL,
  line         TEXT NOT NULL,
  PRIMARY KEY (workspace_id, position)
) WITHOUT ROWID;
CREATE TABLE weeks (
  id           TEXT PRIMARY KEY,
  workspace_id INTEGER NOT NULL REFERENCES workspaces
) WITHOUT ROWID;
CREATE TABLE week_cards (
  week_id TEXT NOT NULL REFERENCES weeks,
  number  INTEGER NOT NULL,
  tile_id TEXT,
  PRIMARY KEY (week_id, number)
) WITHOUT ROWID;

CREATE TABLE looks (
  id           TEXT PRIMARY KEY,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  template_id  TEXT NOT NULL,
  name         TEXT NOT NULL,
  kind         TEXT NOT NULL,
  reads        TEXT NOT NULL,
  sample       TEXT NOT NULL,
  position     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE look_results (
  id      INTEGER PRIMARY KEY,
  look_id TEXT NOT NULL REFERENCES looks,
  views   INTEGER NOT NULL
);
CREATE INDEX look_results_of_look ON look_results (look_id, views);

CREATE TABLE assets (
  id           TEXT PRIMARY KEY,
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  parent_id    TEXT REFERENCES assets,
  status       TEXT NOT NULL CHECK (status IN ('draft', 'in_review', 'approved', 'rejected', 'released')),
  is_primary   INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX assets_of_parent ON assets (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE brand_profiles (
  workspace_id  INTEGER PRIMARY KEY REFERENCES workspaces,
  display_name  TEXT NOT NULL,
  status        TEXT NOT NULL,
  booking_link  TEXT NOT NULL DEFAULT '',
  booking_email TEXT NOT NULL DEFAULT '',
  booking_phone TEXT NOT NULL DEFAULT ''
);
CREATE TABLE brand_sections (
  workspace_id INTEGER NOT NULL REFERENCES workspaces,
  key          TEXT NOT NULL,
  text         TEXT NOT NULL,
  PRIMARY KEY (workspace_id, key)
) WITHOUT ROWID;
