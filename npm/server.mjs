// Finds the pages dev that serves a site's bindings, or starts one.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { connect as dial } from "node:net";
import { dirname, isAbsolute, join, resolve } from "node:path";
import process from "node:process";

const MANIFEST = "pages.deploy.json";

/** The folder of a site: this one, or the nearest one above it. */
export function siteFolder(from = process.cwd()) {
  for (let dir = resolve(from); ; dir = dirname(dir)) {
    if (existsSync(join(dir, MANIFEST))) return dir;
    if (dir === dirname(dir))
      throw new Error(`there is no ${MANIFEST} in ${resolve(from)} or around it: "pages init" writes one`);
  }
}

/** The server that started this process or a parent of it; undefined for none. */
export function givenServer(env = process.env) {
  const { PAGES_BINDINGS: address, PAGES_BINDINGS_TOKEN: token, PAGES_URL: url } = env;
  return isOwn(address) && token ? { address, token, url } : undefined;
}

/** The server that runs for a site; undefined for none. The record may have come with the site: it must name this machine. */
export async function runningServer(dir) {
  const file = join(
    process.env.PAGES_STATE_DIR ? resolve(process.env.PAGES_STATE_DIR) : join(dir, ".pages", "state"),
    "dev.json",
  );
  let record;
  try {
    if (!statSync(file).isFile() || !isMine(file)) return undefined;
    record = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
  const { address, token } = record?.bindings ?? {};
  if (!isOwn(address) || typeof token !== "string") return undefined;
  return (await answers(address)) ? { address, token, url: `${record.url}` } : undefined;
}

function isMine(file) {
  return process.getuid === undefined || statSync(file).uid === process.getuid();
}

/** Whether an address is a socket of this machine. */
function isOwn(address) {
  if (typeof address !== "string") return false;
  return address.startsWith("unix:")
    ? isAbsolute(address.slice("unix:".length))
    : /^127\.0\.0\.1:\d{1,5}$/.test(address);
}

function answers(address) {
  return new Promise((done) => {
    const socket = address.startsWith("unix:")
      ? dial(address.slice("unix:".length))
      : dial(Number(address.split(":")[1]), "127.0.0.1");
    socket.once("connect", () => done(true)).once("error", () => done(false));
    socket.once("connect", () => socket.end());
  });
}

/** The program, and the first arguments that start pages. */
function program() {
  if (process.env.PAGES_PROGRAM) return [process.env.PAGES_PROGRAM];
  const name = process.platform === "win32" ? "pages.exe" : "pages";
  try {
    const require = createRequire(import.meta.url);
    return [require.resolve(`@pages-toolchain/${process.platform}-${process.arch}/${name}`)];
  } catch {
    return [name]; // from the PATH
  }
}

const LINES = 40; // of its output in the message of a failure

/**
 * Starts pages dev for a site. It ends with this process, or when end() is called.
 * @param {string} dir
 * @param {{ args?: string[], onLine?: (line: string) => void }} [options]
 */
export async function startServer(dir, { args = [], onLine } = {}) {
  const [command, ...first] = program();
  const child = spawn(command, [...first, "dev", dir, "--port", "0", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PAGES_BINDINGS: "", PAGES_BINDINGS_TOKEN: "", PAGES_URL: "" },
  });
  const end = () => child.kill("SIGTERM");
  process.once("exit", end);
  const lines = [];
  const url = await new Promise((ready, fail) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (piece) => {
      text += piece;
      const found = /^ready (\S+)$/m.exec(text);
      if (found !== null) ready(found[1]);
    });
    let rest = "";
    child.stderr.setEncoding("utf8").on("data", (piece) => {
      const all = (rest + piece).split("\n");
      rest = all.pop();
      for (const line of all) {
        lines.push(line);
        if (lines.length > LINES) lines.shift();
        onLine?.(line);
      }
    });
    child.once("error", (error) => {
      fail(
        new Error(
          `pages cannot be started (${error.code ?? error.message}): install the package pages-toolchain with its optional packages, ` +
            "or name the program with PAGES_PROGRAM",
        ),
      );
    });
    child.once("exit", (code, signal) => {
      fail(new Error(`pages dev ended at once (${signal ?? `exit ${code}`}):\n${[...lines, rest].join("\n").trim()}`));
    });
  });
  // Neither the child nor its output keeps this process running.
  child.unref();
  for (const stream of [child.stdout, child.stderr]) stream.unref?.();
  const found = await runningServer(dir);
  if (found === undefined) {
    end();
    throw new Error(`pages dev at ${url} does not name the address of its bindings: it may be of another release`);
  }
  const stop = () => {
    process.removeListener("exit", end);
    end();
  };
  return { ...found, url, end: stop };
}

/** The site's folder as one text, with links resolved. */
export function folderKey(dir) {
  return realpathSync(dir);
}
