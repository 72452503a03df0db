SELECT number, mark FROM writers WHERE number = (SELECT max(number) FROM writers)
