#!/usr/bin/env node
// Starts the program of the package for this platform, and ends with its exit code or signal.
"use strict";
const { spawn } = require("node:child_process");

const name = `@pages-toolchain/${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "pages.exe" : "pages";

let path;
try {
  path = require.resolve(`${name}/${program}`);
} catch {
  console.error(`pages: the package ${name} is not installed`);
  console.error(
    "fix: install again without --omit=optional; if there is no such package, pages has no build for this platform",
  );
  process.exit(9);
}

const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// The program gets a terminal's Ctrl-C itself; only a signal to this process alone is passed on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`pages: ${path} cannot be run: ${error.message}`);
  process.exit(9);
});
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});
