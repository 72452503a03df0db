SELECT
    toUInt8(is_readonly),
    toUInt8(is_session_expired),
    toUInt64(parts_to_check),
    toUInt64(log_max_index),
    toUInt64(log_pointer),
    zookeeper_path,
    replica_path
FROM system.replicas
WHERE database = currentDatabase() AND table = ?
