package edgerules

// OwnedHeader is for tests.
func OwnedHeader(name string) bool { return ownedHeader(name) }
