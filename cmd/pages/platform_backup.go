package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/toolapi/service/backup"
)

func (c *cli) newPlatformBackup(f *platformFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write the service's data into a file, also while it runs",
		Long: "Write the service's data into a file, also while it runs: all databases as they were\nat one moment, and the files that belong to them. The file is there when the\ncommand is done, whole and checked, or not at all.\n\n" +
			"It holds everything, and the key of the sites' secrets: keep it as you keep those.\n\nExit codes: 0 written, 1 there is a file of that name, 2 wrong usage, 9 the data\nfolder cannot be used or the disk is full.",
		Example: "  pages platform backup /backup/pages-2026-11-22.tar\n  pages platform backup today.tar --data /srv/pages --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := terminal.NotStdout("a backup", args[0]); err != nil {
				return err
			}
			sum, err := backup.Write(cmd.Context(), c.platformDir(f.data), c.term.Path(args[0]), c.term.Now())
			if err != nil {
				return backupError(err, "give another name, or remove that file")
			}
			c.printBackup(sum, "written to "+args[0])
			return nil
		},
	}
}

func (c *cli) newPlatformRestore(f *platformFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a data folder of a backup",
		Long: "Make a data folder of a backup. Every file and database is checked first; until then\nthere is no folder. One that holds data already is left as it is.\n\n" +
			"Exit codes: 0 restored, 1 the backup is damaged, or the data folder holds data, 2\nwrong usage, 9 the folder cannot be made or the disk is full.",
		Example: "  pages platform restore /backup/pages-2026-11-22.tar --data /srv/pages-again",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := c.platformDir(f.data)
			sum, err := backup.Restore(cmd.Context(), c.term.Path(args[0]), dir)
			if err != nil {
				return backupError(err, "give another folder with --data, or move that one away")
			}
			c.printBackup(sum, "restored to "+c.term.Shown(dir))
			return nil
		},
	}
}

// platformDir is the data folder by its flag.
func (c *cli) platformDir(dir string) string {
	if dir == "" {
		dir = filepath.Join(".pages", "platform")
	}
	return c.term.Path(dir)
}

func (c *cli) printBackup(sum backup.Summary, done string) {
	if c.term.JSON {
		c.term.PrintJSON(sum)
		return
	}
	c.term.Progress("%d files, %d of them databases, %d bytes: %s", sum.Files, sum.Databases, sum.Bytes, done)
}

// backupError gives the errors of a backup their code and remedy.
func backupError(err error, inTheWay string) error {
	if exists, ok := errors.AsType[*backup.ExistsError](err); ok {
		return &failure.Error{Exit: failure.ExitRefused, Code: "exists", Message: exists.Error(), Fix: inTheWay, Err: err}
	}
	if damaged, ok := errors.AsType[*backup.DamagedError](err); ok {
		return &failure.Error{Exit: failure.ExitRefused, Code: "damaged", Message: damaged.Error(), Fix: "use another backup", Err: err}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{Exit: failure.ExitRefused, Code: "nothing-there", Message: err.Error(), Fix: "name the service's data folder with --data, and a backup that there is", Err: err}
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
		return failure.Resource("backup-failed", err.Error(), "make room, and see that you may write there", err)
	}
	if lacksDisk(err) {
		return failure.Resource("backup-failed", "a database could not be read or written", "make room on the disk of the data folder, and see that you may write there: what reads a database keeps an index beside it", err)
	}
	return fmt.Errorf("backup: %w", err)
}

// lacksDisk reports whether SQLite says that it could not write beside a database: whoever
// reads one writes an index of its log there.
func lacksDisk(err error) bool {
	const readOnly, ioerr, full, cantOpen = 8, 10, 13, 14
	failed, ok := errors.AsType[interface {
		error
		Code() int
	}](err)
	return ok && slices.Contains([]int{readOnly, ioerr, full, cantOpen}, failed.Code()&0xff)
}
