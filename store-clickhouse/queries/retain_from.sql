SELECT retain_from_ms FROM
(
    SELECT toInt64(value) AS retain_from_ms, 1 AS is_mark FROM marks WHERE name = 'retain_from_ms'
    ORDER BY change DESC LIMIT 1
    UNION ALL
    SELECT max(retain_from_ms) AS retain_from_ms, 0 AS is_mark FROM retention HAVING count() > 0
)
ORDER BY is_mark DESC LIMIT 1
