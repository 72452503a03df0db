SELECT retain_from_ms FROM retention ORDER BY retain_from_ms DESC LIMIT 1
