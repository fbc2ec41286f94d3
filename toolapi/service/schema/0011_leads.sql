-- Why a lead is spam, as JSON; NULL for a lead. A page tells of a lead anew when a person marks it.
ALTER TABLE leads ADD COLUMN spam TEXT;

-- The settings of a site that are not the usual ones.
CREATE TABLE site_settings (
  site_id   TEXT PRIMARY KEY REFERENCES sites,
  spam_off  INTEGER NOT NULL,
  lead_mail TEXT NOT NULL -- JSON: the emails of members who get a mail on each lead
) WITHOUT ROWID;

-- The mails on leads: in the same transaction as the lead, and there until they are sent and for a while after.
CREATE TABLE lead_mails (
  id         INTEGER PRIMARY KEY,
  lead_id    TEXT NOT NULL REFERENCES leads (id),
  site_id    TEXT NOT NULL REFERENCES sites,
  recipient  TEXT NOT NULL,
  queued_at  INTEGER NOT NULL,
  attempts   INTEGER NOT NULL DEFAULT 0,
  next_at    INTEGER,          -- NULL once it is sent or given up
  sent_at    INTEGER,
  error      TEXT NOT NULL DEFAULT '',
  UNIQUE (lead_id, recipient)
);
CREATE INDEX lead_mails_due ON lead_mails (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX lead_mails_of_site ON lead_mails (site_id, recipient, queued_at);
