// Compiles the components beside this file for a server, as a site's own build step would.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { transformAsync } from "@babel/core";
import solid from "babel-preset-solid";
import { compile } from "svelte/compiler";

mkdirSync("src/generated", { recursive: true });
mkdirSync("public", { recursive: true });
copyFileSync(new URL(import.meta.resolve("@fontsource/inter/files/inter-latin-400-normal.woff")), "public/inter.woff");
for (const name of ["Boats", "Badge"]) {
  const { js } = compile(readFileSync(`${name}.svelte`, "utf8"), { generate: "server", filename: `${name}.svelte` });
  writeFileSync(`src/generated/${name}.svelte.js`, js.code.replaceAll('.svelte"', '.svelte.js"').replaceAll(".svelte'", ".svelte.js'"));
}
const { code } = await transformAsync(readFileSync("boats.jsx", "utf8"), { filename: "boats.jsx", babelrc: false, configFile: false, presets: [[solid, { generate: "ssr", hydratable: true }]] });
writeFileSync("src/generated/boats.solid.js", code);
