// Writes what the templates beside this file are compiled to, as a site's own build step would.
import { readFileSync, writeFileSync } from "node:fs";
import Handlebars from "handlebars";

const specs = ["cart", "row"].map((name) => `${name}: ${Handlebars.precompile(readFileSync(`${name}.hbs`, "utf8"))}`);
writeFileSync("src/cart.precompiled.js", `export default { ${specs.join(",\n")} };\n`);
