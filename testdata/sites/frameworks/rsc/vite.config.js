import react from "@vitejs/plugin-react";
import rsc from "@vitejs/plugin-rsc";
import { defineConfig } from "vite";

// Both halves of the server run in one Worker: its entry is dist/rsc/index.js.
const worker = { conditions: ["workerd", "worker", "module", "browser"], noExternal: true };
const entry = (name) => ({ build: { rollupOptions: { input: { index: `./src/entry.${name}.jsx` } } } });

export default defineConfig({
  plugins: [rsc(), react()],
  environments: {
    rsc: { ...entry("rsc"), resolve: { ...worker, conditions: ["react-server", ...worker.conditions] } },
    ssr: { ...entry("ssr"), resolve: worker },
    client: entry("browser"),
  },
});
