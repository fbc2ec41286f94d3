SELECT
  o.level,
  count(DISTINCT o.id) AS outings,
  count(s.id) AS signups
FROM outings AS o
LEFT JOIN signups AS s ON s.outing_id = o.id
GROUP BY o.level
ORDER BY o.level;
