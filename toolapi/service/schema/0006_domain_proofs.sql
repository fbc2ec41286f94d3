-- A domain waits for the proof that it is its workspace's since pending_since; NULL when it needs none or has it.
-- Several workspaces may wait for one name, and one has it.
CREATE TABLE domains_proven (
  id            TEXT PRIMARY KEY,
  workspace_id  INTEGER NOT NULL REFERENCES workspaces,
  hostname      TEXT NOT NULL,
  site_id       TEXT NOT NULL REFERENCES sites,
  provided      INTEGER NOT NULL DEFAULT 0,
  active        INTEGER NOT NULL DEFAULT 1,
  version       INTEGER NOT NULL DEFAULT 0,
  pending_since INTEGER,
  UNIQUE (workspace_id, hostname)
);
-- What was connected and never answered has no proof. The demo's domain is nobody's to prove (RFC 2606).
INSERT INTO domains_proven (id, workspace_id, hostname, site_id, provided, active, version, pending_since)
  SELECT id, workspace_id, hostname, site_id, provided, active, version,
    CASE WHEN NOT active AND hostname <> 'shop.acme.example' THEN unixepoch() * 1000 END
  FROM domains;
DROP TABLE domains;
ALTER TABLE domains_proven RENAME TO domains;
CREATE UNIQUE INDEX domains_by_name ON domains (hostname) WHERE pending_since IS NULL;
CREATE UNIQUE INDEX domains_provided ON domains (site_id) WHERE provided;
CREATE INDEX domains_pending ON domains (pending_since) WHERE pending_since IS NOT NULL;
