SELECT name FROM system.settings WHERE name IN ('insert_quorum_parallel', 'async_insert')
