-- For `pages state seed` and `pages test --seed`: something to look at.
INSERT INTO notes (body, author) VALUES ('The boathouse is open on Saturday.', 'Ada');
