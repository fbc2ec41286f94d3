package workerd

// Program is an executable of workerd.
type Program struct {
	Path    string
	Version string
	// Source says where it was found, for people: "node_modules of the site".
	Source string
}
