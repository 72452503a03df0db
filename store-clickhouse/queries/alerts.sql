SELECT id, change, deleted, message FROM alerts WHERE change > ? ORDER BY id, change DESC LIMIT 1 BY id
