package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/platform"
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
			sum, err := platform.Backup(cmd.Context(), f.at(c).Dir(), c.term.Path(args[0]), c.term.Now())
			if err != nil {
				return err
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
			dir := f.at(c).Dir()
			sum, err := platform.Restore(cmd.Context(), c.term.Path(args[0]), dir)
			if err != nil {
				return err
			}
			c.printBackup(sum, "restored to "+c.term.Shown(dir))
			return nil
		},
	}
}

func (c *cli) printBackup(sum backup.Summary, done string) {
	if c.term.JSON {
		c.term.PrintJSON(sum)
		return
	}
	c.term.Progress("%d files, %d of them databases, %d bytes: %s", sum.Files, sum.Databases, sum.Bytes, done)
}
