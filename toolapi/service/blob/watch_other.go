//go:build !linux

package blob

// notifier is the stub for systems without supported events.
type notifier struct{}

// identity distinguishes a folder from a later one of the same name.
type identity struct{}

func identify(string) (identity, bool) { return identity{}, false }

func (*notifier) open() bool { return false }

func (*notifier) close() error { return nil }

func (*notifier) add(int) (id int32, ok bool) { return 0, false }

func (*notifier) remove(int32) {}

func (*notifier) read(func(id int32, name string, gone bool)) bool { return true }
