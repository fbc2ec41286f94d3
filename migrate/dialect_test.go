package migrate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/migrate"
)

// TestOtherDatabases names the SQLite form of a statement for another database.
func TestOtherDatabases(t *testing.T) {
	db := open(t)
	const is = "the database is SQLite: "
	for text, fix := range map[string]string{
		"CREATE TABLE a (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, at DATETIME DEFAULT NOW()) ENGINE=InnoDB;": is +
			"write INTEGER PRIMARY KEY, which numbers rows automatically",
		"CREATE TABLE a (id SERIAL PRIMARY KEY, at TIMESTAMPTZ DEFAULT now());": is + "write CURRENT_TIMESTAMP instead of NOW()",
		"CREATE TABLE a (at TEXT); INSERT INTO a VALUES (NOW());":               is + "write CURRENT_TIMESTAMP instead of NOW()",
		"CREATE TABLE a (id UUID PRIMARY KEY DEFAULT gen_random_uuid());":       is + "write (lower(hex(randomblob(16)))) for a random id",
		"CREATE TABLE a (id INT) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;":        is + "remove the options after the columns",
		"CREATE TABLE a (x); DROP TABLE IF EXISTS a CASCADE;":                   is + "remove the last word",
		"CREATE TYPE mood AS ENUM ('sad', 'ok');": is +
			"remove the statement, and write TEXT CHECK (column IN ('a', 'b')) for a column of that type",
		"CREATE SEQUENCE a_id_seq START WITH 1;": is +
			"remove the statement: INTEGER PRIMARY KEY numbers rows automatically",
		"LOCK TABLES `a` WRITE;":                     is + "remove the statement: it sets an option of a session",
		"SET statement_timeout = 0;":                 is + "remove the statement: it sets an option of a session",
		"COPY public.a (id) FROM stdin;":             is + "dump INSERT statements: pg_dump --inserts",
		"CREATE TABLE public.a (id integer);":        is + "remove the schema before the name: public",
		`CREATE EXTENSION IF NOT EXISTS "pgcrypto";`: is + "remove the statement: there are no extensions",
		"CREATE TABLE a (x JSONB DEFAULT '{}'::jsonb);": is +
			"write CAST(… AS jsonb), or nothing if the value already has the type",
		"CREATE TABLE a (x, -- NOW()\n y 'AUTO_INCREMENT' z z,);": "",
		"CREATE TABLE a (x); INSERT INTO a VALUES (:id);":         "write the value itself, or put the text in quotes",
	} {
		t.Run(fmt.Sprintf("%.40s", text), func(t *testing.T) {
			_, err := migrate.New(db, fstest.MapFS{"m/1.sql": {Data: []byte(text)}}, migrate.Options{Dir: "m"}).Apply(t.Context())
			failed, ok := errors.AsType[*migrate.Error](err)
			if !ok || failed.Fix != fix {
				t.Errorf("%s\ngives %v, fix: %q\n want %q", text, err, failed.Fix, fix)
			}
		})
	}
}

// TestOtherTools: files from drizzle-kit and Prisma apply unchanged, and make the same schema as SQLite's shell.
func TestOtherTools(t *testing.T) {
	const drizzleFirst = "CREATE TABLE `users` (\n\t`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,\n\t`name` text,\n\t`age` text\n" +
		");\n--> statement-breakpoint\n" +
		"CREATE TABLE `posts` (\n\t`id` integer PRIMARY KEY NOT NULL,\n\t`author` integer,\n" +
		"\tFOREIGN KEY (`author`) REFERENCES `users`(`id`) " +
		"ON UPDATE no action ON DELETE cascade\n);\n--> statement-breakpoint\nCREATE UNIQUE INDEX `users_name_unique` ON `users` (`name`);"
	const drizzleSecond = "PRAGMA foreign_keys=OFF;--> statement-breakpoint\nCREATE TABLE `__new_users` (\n" +
		"\t`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,\n" +
		"\t`name` text DEFAULT '?' NOT NULL,\n\t`age` integer\n);\n--> statement-breakpoint\n" +
		"INSERT INTO `__new_users`(\"id\", \"name\", \"age\") SELECT \"id\", \"name\", \"age\" FROM `users`;--> statement-breakpoint\n" +
		"DROP TABLE `users`;--> statement-breakpoint\nALTER TABLE `__new_users` RENAME TO `users`;--> statement-breakpoint\n" +
		"PRAGMA foreign_keys=ON;" +
		"--> statement-breakpoint\nCREATE UNIQUE INDEX `users_name_unique` ON `users` (`name`);"
	const prismaFirst = "-- CreateTable\nCREATE TABLE \"User\" (\n    \"id\" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,\n" +
		"    \"email\" TEXT NOT NULL\n);\n\n" +
		"-- CreateTable\nCREATE TABLE \"Post\" (\n    \"id\" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,\n" +
		"    \"authorId\" INTEGER NOT NULL,\n    CONSTRAINT " +
		"\"Post_authorId_fkey\" FOREIGN KEY (\"authorId\") REFERENCES \"User\" (\"id\") ON DELETE RESTRICT ON UPDATE CASCADE\n);\n\n" +
		"-- CreateIndex\nCREATE UNIQUE INDEX \"User_email_key\" ON \"User\"(\"email\");\n"
	const prismaSecond = "-- RedefineTables\nPRAGMA defer_foreign_keys=ON;\nPRAGMA foreign_keys=OFF;\nCREATE TABLE \"new_User\" (\n" +
		"    \"id\" INTEGER NOT NULL " +
		"PRIMARY KEY AUTOINCREMENT,\n    \"email\" TEXT NOT NULL,\n    \"name\" TEXT\n);\n" +
		"INSERT INTO \"new_User\" (\"email\", \"id\") SELECT \"email\", \"id\" FROM \"User\";\n" +
		"DROP TABLE \"User\";\nALTER TABLE \"new_User\" RENAME TO \"User\";\n" +
		"CREATE UNIQUE INDEX \"User_email_key\" ON \"User\"(\"email\");\n" +
		"PRAGMA foreign_keys=ON;\nPRAGMA defer_foreign_keys=OFF;\n"
	tests := []struct {
		name  string
		files []migrate.File
		rows  string
		lost  string
	}{
		{"drizzle-kit", list("0000_a.sql", drizzleFirst, "0001_b.sql", drizzleSecond), "INSERT INTO users VALUES (1, 'a', '7'); " +
			"INSERT INTO posts VALUES (1, 1);", "0001_b.sql:9 posts 1 cascade"},
		{"Prisma", list("0001_init.sql", prismaFirst, "0002_name.sql", prismaSecond), "INSERT INTO User VALUES (1, 'a@b'); INSERT " +
			"INTO Post VALUES (1, 1);", ""},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			db, plain := open(t), open(t)
			apply(t, db, c.files)
			plain.SetMaxOpenConns(1)
			for _, f := range c.files {
				execute(t, plain, string(f.SQL))
			}
			if got, want := dump(t, db), dump(t, plain); got != want {
				t.Errorf("schema %s, want %s", got, want)
			}
			const texts = "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE tbl_name <> '_pages_migrations' " +
				"ORDER BY type, name)"
			if got, want := one(t, db, texts), one(t, plain, texts); got != want {
				t.Errorf("schema %s\nwant %s", got, want)
			}
			filled := open(t)
			apply(t, filled, c.files[:1])
			execute(t, filled, c.rows)
			plan, err := migrator(filled, c.files, options).Plan(t.Context())
			if got := strings.Join(losses(plan.Losses), "; "); err != nil || got != c.lost {
				t.Errorf("lost %q, want %q, error %v", got, c.lost, err)
			}
		})
	}
}
