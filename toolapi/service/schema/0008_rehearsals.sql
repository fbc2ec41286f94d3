-- What a person was shown of the migrations when the proposal was made, as JSON; NULL where none was rehearsed, and for
-- proposals and schedules that an older version made.
ALTER TABLE proposals ADD COLUMN migrated TEXT;
ALTER TABLE schedules ADD COLUMN approval TEXT;
