// Run with: pages test -C ../riverside -- npx playwright test
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testMatch: "*.spec.js",
  reporter: "line",
  workers: 1, // the tests share a site, which each of them resets
  use: {
    baseURL: process.env.PAGES_URL,
    // The system's browser: nothing is downloaded.
    launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] },
  },
});
