SELECT partition_id, toUInt64(sum(rows)) FROM system.parts
WHERE active AND database = currentDatabase() AND table = ?
GROUP BY partition_id
HAVING toInt64(any(partition)) < ?
ORDER BY partition_id
