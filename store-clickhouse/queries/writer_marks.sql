SELECT mark FROM writers WHERE role = ? AND number = ?
