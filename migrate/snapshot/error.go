package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
)

// The codes of [Error]. They are stable.
const (
	CodeName     = "snapshot_name_invalid"
	CodeExists   = "snapshot_exists"
	CodeMissing  = "snapshot_missing"
	CodeForeign  = "snapshot_foreign"
	CodeDamaged  = "snapshot_damaged"
	CodeBusy     = "state_busy"
	CodeUnusable = "state_unusable"
)

// Error is a refusal: nothing was changed.
type Error struct {
	// Code is one of the Code constants.
	Code string
	// Msg says what is wrong, Fix what to do about it; Fix may be empty.
	Msg, Fix string

	cause error
}

func (e *Error) Error() string { return e.Msg }

// Unwrap gives the error behind e, if there is one.
func (e *Error) Unwrap() error { return e.cause }

func missingError(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &Error{
		Code: CodeMissing, Msg: fmt.Sprintf("there is no snapshot %q", name),
		Fix: "pages state list shows those there are", cause: err,
	}
}

func foreignError(name, why string) error {
	return &Error{
		Code: CodeForeign, Msg: fmt.Sprintf("the folder %q is no snapshot: %s", name, why),
		Fix: "load another snapshot; what is in the way can be removed with pages state remove",
	}
}

func damagedError(name, why string) error {
	return &Error{
		Code: CodeDamaged, Msg: fmt.Sprintf("the snapshot %q is damaged: %s", name, why),
		Fix: "load another snapshot; this one can be removed with pages state remove",
	}
}
