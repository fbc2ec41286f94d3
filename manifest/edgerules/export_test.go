package edgerules

// OwnedHeader exports ownedHeader to the tests.
func OwnedHeader(name string) bool { return ownedHeader(name) }
