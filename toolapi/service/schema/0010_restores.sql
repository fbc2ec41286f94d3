-- The last restore of a site's data that was decided. A host whose database has no mark of it has yet to put the data back.
ALTER TABLE sites ADD COLUMN restore_id TEXT;

-- What a preview shows of the restore points, as JSON; NULL for one of what is live.
ALTER TABLE previews ADD COLUMN restore TEXT;
