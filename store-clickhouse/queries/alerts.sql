SELECT id, change, deleted, message FROM alerts ORDER BY id, change DESC LIMIT 1 BY id
