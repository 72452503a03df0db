SELECT toUInt64(count()) FROM system.zookeeper WHERE path = ?
