-- What a person is shown before a go-ahead: the exact arguments of a proposal.
ALTER TABLE proposals ADD COLUMN arguments TEXT NOT NULL DEFAULT '{}';
CREATE INDEX proposals_of_workspace ON proposals (workspace_id, expires_at);

-- Who is signed in to the console: by a key, which is looked up on every request. The
-- cookie's value is not kept, only its SHA-256.
CREATE TABLE console_sessions (
  hash       BLOB PRIMARY KEY,
  key_hash   BLOB NOT NULL,
  started_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX console_sessions_by_expiry ON console_sessions (expires_at);
