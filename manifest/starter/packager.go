package starter

import "io/fs"

// Packager is a package manager for JavaScript.
type Packager struct {
	// Install is the command that installs packages; a script's name follows that of Run.
	Install, Run string
	// setUp are the steps that a workflow needs before them.
	setUp string
}

// FindPackager tells a project's package manager by its lock file, which lies in one of the folders, or else npm.
func FindPackager(folders ...fs.FS) Packager {
	for _, folder := range folders {
		switch {
		case anyOf(folder, "pnpm-lock.yaml"):
			return Packager{"pnpm install", "pnpm run", step("corepack enable")}
		case anyOf(folder, "yarn.lock"):
			return Packager{"yarn install", "yarn run", step("corepack enable")}
		case anyOf(folder, "bun.lock", "bun.lockb"):
			return Packager{"bun install", "bun run", "      - uses: oven-sh/setup-bun@v2\n"}
		case anyOf(folder, "package-lock.json"):
			return Packager{"npm install", "npm run", ""}
		}
	}
	return Packager{"npm install", "npm run", ""}
}
