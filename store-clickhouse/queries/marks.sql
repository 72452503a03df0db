SELECT name, change, value FROM marks WHERE name = ? ORDER BY change DESC LIMIT 1
