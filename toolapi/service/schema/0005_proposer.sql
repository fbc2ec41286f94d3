-- The key that a proposal was made with: one that is revoked proposes nothing any more.
ALTER TABLE proposals ADD COLUMN key_id INTEGER REFERENCES keys;
