package main

import "fmt"

// printList prints doc as JSON, or a line for each item. It returns err, which may have kept the list from being read.
func printList[T any](c *cli, err error, doc any, items []T, line func(T) string) error {
	switch {
	case err != nil:
		return err
	case c.term.JSON:
		c.term.PrintJSON(doc)
		return nil
	}
	for _, item := range items {
		fmt.Fprintln(c.term.Stdout, line(item))
	}
	return nil
}

// changed says in JSON that a command with nothing to show is done.
func (c *cli) changed(err error) error {
	if err == nil && c.term.JSON {
		c.term.PrintJSON(doneDoc{true})
	}
	return err
}
