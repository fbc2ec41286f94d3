// nitro: { plugins: ["pages-toolchain/nitro"] }
import { nitro } from "./index.mjs";

export default (app) => nitro(app);
