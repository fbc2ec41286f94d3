SELECT name FROM crews
