-- The first two statements are right; the third names a table that never was.
INSERT INTO boats (name) VALUES ('Heron; the old one');

CREATE INDEX boats_by_name ON boats (name);

INSERT INTO
  bots (name)
VALUES ('Wren');
