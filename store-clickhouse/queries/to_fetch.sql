SELECT name FROM system.zookeeper
WHERE path = ? AND (position(value, '\nget\n') > 0 OR position(value, '\nattach\n') > 0)
