import react from "@vitejs/plugin-react";

export default { cacheDir: ".vite", plugins: [react()] };
