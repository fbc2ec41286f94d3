package schemadiff_test

import "testing"

// TestFrameworks changes schemas in the style of tools that people come from.
func TestFrameworks(t *testing.T) {
	for _, c := range []struct {
		name string
		pair
	}{
		{"drizzle", pair{
			from: drizzle + drizzleIndexes,
			to: `CREATE TABLE users (
				id integer PRIMARY KEY AUTOINCREMENT,
				handle text NOT NULL,
				email text NOT NULL COLLATE NOCASE,
				role text DEFAULT 'member' NOT NULL CHECK (role IN ('member', 'owner')),
				created_at integer DEFAULT (unixepoch()) NOT NULL
			);
			CREATE TABLE posts (
				id integer PRIMARY KEY,
				author_id integer NOT NULL REFERENCES users(id) ON UPDATE no action ON DELETE cascade,
				title text NOT NULL,
				body text,
				likes integer DEFAULT 0 NOT NULL,
				slug text GENERATED ALWAYS AS (lower(title)) VIRTUAL
			);
			CREATE TABLE comments (
				id integer PRIMARY KEY,
				post_id integer,
				parent_id integer,
				body text NOT NULL,
				FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE set null,
				FOREIGN KEY (parent_id) REFERENCES comments(id) ON DELETE cascade
			);
			CREATE UNIQUE INDEX users_email_unique ON users (email);
			CREATE INDEX posts_author ON posts (author_id, title) WHERE likes > 0;`,
			rows: []string{
				"INSERT INTO users (name, email) VALUES ('ada', 'ada@x'), ('bob', 'bob@x'), ('cy', 'cy@x')",
				"DELETE FROM users WHERE name = 'cy'",
				"INSERT INTO posts (author_id, title, body) VALUES (1, 'One', 'x'), (1, 'Two', NULL), (2, 'Three', 'z')",
				"INSERT INTO comments (post_id, parent_id, body) VALUES (1, NULL, 'a'), (1, 1, 'b'), (3, 2, 'c'), (NULL, 3, 'd')",
			},
			told:    edit{renames: []string{"users.name=handle"}},
			renamed: map[string]string{"users.handle": "name"},
		}},
		{"Prisma", pair{
			from: prisma,
			to: `CREATE TABLE "Account" (
				"id" TEXT NOT NULL PRIMARY KEY,
				"email" TEXT NOT NULL,
				"age" REAL,
				"createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
				"updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
			);
			CREATE TABLE "Post" (
				"id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
				"title" TEXT NOT NULL,
				"published" BOOLEAN NOT NULL DEFAULT false,
				"authorId" TEXT,
				CONSTRAINT "Post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "Account" ("id") ON DELETE SET NULL ON UPDATE CASCADE
			);
			CREATE TABLE "Category" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL,
				"parent" INTEGER REFERENCES "Category" ("id"));
			CREATE TABLE "_CategoryToPost" (
				"A" INTEGER NOT NULL,
				"B" INTEGER NOT NULL,
				CONSTRAINT "_CategoryToPost_A_fkey" FOREIGN KEY ("A") REFERENCES "Category" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
				CONSTRAINT "_CategoryToPost_B_fkey" FOREIGN KEY ("B") REFERENCES "Post" ("id") ON DELETE CASCADE ON UPDATE CASCADE
			);
			CREATE UNIQUE INDEX "Account_email_key" ON "Account"("email");
			CREATE UNIQUE INDEX "_CategoryToPost_AB_unique" ON "_CategoryToPost"("A", "B");
			CREATE INDEX "_CategoryToPost_B_index" ON "_CategoryToPost"("B");`,
			rows: []string{
				`INSERT INTO "User" VALUES ('u1', 'a@x', 7, '2020-01-01'), ('u2', 'b@x', NULL, '2020-01-02')`,
				`INSERT INTO "Post" (title, authorId, notes) VALUES ('one', 'u1', 'n'), ('two', 'u2', NULL), ('three', 'u1', '')`,
				`INSERT INTO "Category" (name) VALUES ('red'), ('blue')`,
				`INSERT INTO "_CategoryToPost" VALUES (1, 1), (1, 3), (2, 2)`,
			},
			told:    edit{renames: []string{"User=Account"}},
			renamed: map[string]string{"Account": "User"},
		}},
		{"Rails", pair{
			from: rails,
			to: `CREATE TABLE "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY, "id" INTEGER);
			CREATE TABLE "teams" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar NOT NULL, "owner_id" integer,
				CONSTRAINT "fk_rails_owner" FOREIGN KEY ("owner_id") REFERENCES "people" ("id") ON DELETE CASCADE);
			CREATE TABLE "people" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "team_id" bigint,
				"email" varchar(80) DEFAULT '' NOT NULL,
				"active" boolean DEFAULT 1, "balance" decimal(10,2) DEFAULT 0.0, "created_at" datetime(6) NOT NULL,
				CONSTRAINT "fk_rails_team" FOREIGN KEY ("team_id") REFERENCES "teams" ("id") ON DELETE CASCADE,
				CONSTRAINT "chk" CHECK (length("email") < 80));
			CREATE INDEX "index_people_on_team_id_and_email" ON "people" ("team_id", "email");
			CREATE VIEW "active_people" AS SELECT p.email, t.name AS team FROM people p
				LEFT JOIN teams t ON t.id = p.team_id WHERE p.active;
			CREATE TRIGGER "people_guard" BEFORE DELETE ON "people" WHEN old.balance > 0 BEGIN SELECT raise(ABORT, 'balance'); END;`,
			rows: []string{
				`INSERT INTO "schema_migrations" VALUES ('20240101', 1), ('20240102', 2)`,
				`INSERT INTO "teams" (name) VALUES ('a'), ('b')`,
				`INSERT INTO "people" (team_id, email, active, balance, created_at) VALUES (1, 'x@y', 1, 5.25, '2024'),
					(2, 'z@y', 0, 0, '2025'),
					(NULL, 'n@y', 1, 1.5, '2025')`,
				`UPDATE "teams" SET owner_id = id`,
			},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

const drizzle = "CREATE TABLE `users` (\n\t`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,\n" +
	"\t`name` text NOT NULL,\n\t`email` text NOT NULL,\n" +
	"\t`created_at` integer DEFAULT (unixepoch()) NOT NULL\n);\n" +
	"CREATE TABLE `posts` (\n\t`id` integer PRIMARY KEY NOT NULL,\n" +
	"\t`author_id` integer NOT NULL,\n\t`title` text NOT NULL,\n\t`body` text,\n" +
	"\tFOREIGN KEY (`author_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade\n);\n" +
	"CREATE TABLE `comments` (\n\t`id` integer PRIMARY KEY NOT NULL,\n" +
	"\t`post_id` integer,\n\t`parent_id` integer,\n\t`body` text NOT NULL,\n" +
	"\tFOREIGN KEY (`post_id`) REFERENCES `posts`(`id`) ON UPDATE no action ON DELETE set null,\n" +
	"\tFOREIGN KEY (`parent_id`) REFERENCES `comments`(`id`) ON UPDATE no action ON DELETE cascade\n);\n"

const drizzleIndexes = "CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);\n" +
	"CREATE INDEX `posts_author` ON `posts` (`author_id`);\n"

const prisma = `CREATE TABLE "User" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "email" TEXT NOT NULL,
    "age" INTEGER,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE "Post" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "title" TEXT NOT NULL,
    "authorId" TEXT NOT NULL,
    "notes" TEXT,
    CONSTRAINT "Post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "User" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE TABLE "Category" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL);
CREATE TABLE "_CategoryToPost" (
    "A" INTEGER NOT NULL,
    "B" INTEGER NOT NULL,
    CONSTRAINT "_CategoryToPost_A_fkey" FOREIGN KEY ("A") REFERENCES "Category" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "_CategoryToPost_B_fkey" FOREIGN KEY ("B") REFERENCES "Post" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "User_email_key" ON "User"("email");
CREATE UNIQUE INDEX "_CategoryToPost_AB_unique" ON "_CategoryToPost"("A", "B");
CREATE INDEX "_CategoryToPost_B_index" ON "_CategoryToPost"("B");
`

const rails = `CREATE TABLE "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY, "id" INTEGER);
CREATE TABLE "teams" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar, "owner_id" integer, CONSTRAINT "fk_rails_owner"
FOREIGN KEY ("owner_id")
  REFERENCES "people" ("id") ON DELETE CASCADE
);
CREATE TABLE "people" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "team_id" bigint, "email" varchar DEFAULT '' NOT NULL,
"active" boolean DEFAULT 1, "balance" decimal(10,2) DEFAULT '0.0', "created_at" datetime(6) NOT NULL, CONSTRAINT "fk_rails_team"
FOREIGN KEY ("team_id")
  REFERENCES "teams" ("id") ON DELETE CASCADE
);
CREATE INDEX "index_people_on_team_id" ON "people" ("team_id");
CREATE TRIGGER "people_guard" BEFORE DELETE ON "people" WHEN old.balance > 0 BEGIN SELECT raise(ABORT, 'balance'); END;
`
