// Selects a row through the bindings of a process of Node.js, again and again for a second, and prints how often:
// node bindings-node.mjs pages|wrangler MODULE SITE
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [kind, module, site] = process.argv.slice(2);
process.chdir(site);
const { env, dispose } =
  kind === "pages"
    ? await (await import(pathToFileURL(module).href)).getPlatform()
    : await createRequire(import.meta.url)(module).getPlatformProxy();
const statement = env.DB.prepare("SELECT id, name, n FROM rows WHERE id = ?");

async function during(ms) {
  const begin = performance.now();
  let n = 0;
  do {
    const { results } = await statement.bind((n % 1000) + 1).all();
    if (results.length !== 1) throw new Error(`${results.length} rows`);
    n++;
  } while (performance.now() - begin < ms);
  return (n * 1000) / (performance.now() - begin);
}

await during(500);
console.log(await during(1000));
await dispose();
process.exit();
