-- Whether a form that a script sends needs a proof of work.
ALTER TABLE site_settings ADD COLUMN proof_of_work INTEGER NOT NULL DEFAULT 0;
