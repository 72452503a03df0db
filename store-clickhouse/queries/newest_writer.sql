SELECT max(number) FROM writers WHERE role = ?
