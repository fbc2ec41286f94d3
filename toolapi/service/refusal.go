package service

import (
	"errors"

	"github.com/pages-toolchain/pages/toolapi"
)

// refusalError is a tool refusal on its way to the answer.
type refusalError struct {
	refusal toolapi.ToolRefusal
	// boundary says that resolving the workspace refused, and the tool did not run.
	boundary bool
}

func (e *refusalError) Error() string { return e.refusal.Code + ": " + e.refusal.Message }

// refuse is a refusal with a code and a message.
func refuse(code, message string) error {
	return &refusalError{refusal: toolapi.ToolRefusal{Code: code, Message: message}}
}

// refuseAt is a refusal that points at an argument and says what would pass.
func refuseAt(code, message, path, fix string) error {
	return &refusalError{refusal: toolapi.ToolRefusal{Code: code, Message: message, Path: path, Fix: fix}}
}

// invalid is the refusal of arguments.
func invalid(issues ...toolapi.Issue) error {
	return &refusalError{refusal: toolapi.ToolRefusal{
		Code: toolapi.CodeInvalidArguments, Message: "The arguments are not valid; nothing ran.", Issues: issues,
	}}
}

// refusedWith reports whether err is a tool refusal, and which.
func refusedWith(err error) (*refusalError, bool) { return errors.AsType[*refusalError](err) }
