-- The programme and the crews of the season. Everybody named here is invented.
INSERT INTO crews (id, name, squad, boat, captain) VALUES
  ('kingfisher-viii', 'Kingfisher eight', 'Senior squad', 'kingfisher', 'Ines Halloran'),
  ('heron-iv', 'Heron four', 'Masters', 'heron', 'Tom Adeyemi'),
  ('grebe-ii', 'Grebe double', 'Juniors', 'grebe', 'Mila Novak');

INSERT INTO seats (crew_id, seat, rower) VALUES
  ('kingfisher-viii', 0, 'Priya Raman'),
  ('kingfisher-viii', 1, 'Ines Halloran'),
  ('kingfisher-viii', 2, 'Jonas Berg'),
  ('kingfisher-viii', 3, 'Amara Okafor'),
  ('kingfisher-viii', 4, 'Lena Fischer'),
  ('kingfisher-viii', 5, 'Marek Dvorak'),
  ('kingfisher-viii', 6, 'Sofia Lindqvist'),
  ('kingfisher-viii', 7, 'Daniel O''Shea'),
  ('kingfisher-viii', 8, 'Yuki Tanabe'),
  ('heron-iv', 1, 'Tom Adeyemi'),
  ('heron-iv', 2, 'Greta Sanz'),
  ('heron-iv', 3, 'Hugh Pemberton'),
  ('heron-iv', 4, 'Rosa Iglesias'),
  ('grebe-ii', 1, 'Mila Novak'),
  ('grebe-ii', 2, 'Eli Marsh');

INSERT INTO outings (id, title, weekday, starts, minutes, level, boat, crew_id, places, summary) VALUES
  ('monday-singles', 'Monday singles', 1, '17:30', 75, 'social', 'wren', NULL, 4, 'Sculls for anyone with a single ticket; a coach keeps pace on the towpath.'),
  ('tuesday-eights', 'Tuesday dawn eight', 2, '06:15', 90, 'race', 'kingfisher', 'kingfisher-viii', 9, 'Steady state to the weir and back; the kettle is on at half past five.'),
  ('wednesday-learners', 'Learn to row', 3, '18:00', 90, 'learn', 'heron', NULL, 8, 'Your first time in a boat: ten minutes of talk, eighty on the water.'),
  ('thursday-masters', 'Masters four', 4, '19:00', 75, 'social', 'heron', 'heron-iv', 4, 'An unhurried row at dusk, followed by soup.'),
  ('saturday-juniors', 'Junior sculling', 6, '09:00', 120, 'learn', 'grebe', 'grebe-ii', 6, 'Ages eleven to seventeen; life jackets and launch cover provided.'),
  ('saturday-pieces', 'Saturday race pieces', 6, '11:30', 90, 'race', 'kingfisher', 'kingfisher-viii', 9, 'Three pieces of 1,000 metres side by side with the town club.'),
  ('sunday-tour', 'Sunday tour', 0, '10:00', 150, 'social', 'heron', NULL, 12, 'Downstream to the mill for coffee, back on the current''s good will.');

INSERT INTO notes (id, author_id, author, body, created_at) VALUES
  ('4d0f7b0e-5a9b-4c57-9d27-6f4a9a0c1f01', 'seed', 'Priya Raman', 'The cox box is charged; please switch it off after the outing.', '2026-10-02T08:10:00.000Z'),
  ('4d0f7b0e-5a9b-4c57-9d27-6f4a9a0c1f02', 'seed', 'Tom Adeyemi', 'Heron has a new set of gates: check the pitch before you push off.', '2026-10-09T17:45:00.000Z'),
  ('4d0f7b0e-5a9b-4c57-9d27-6f4a9a0c1f03', 'seed', 'Ines Halloran', 'Trailer loads on Friday at six for the Autumn Head; bring a 10 mm spanner.', '2026-10-14T12:00:00.000Z');
