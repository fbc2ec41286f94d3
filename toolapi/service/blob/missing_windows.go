package blob

// missingOf returns those of the blobs of one folder that do not exist.
func (w *Space) missingOf(some []Blob) []Blob { return w.lookAtEach(some) }
