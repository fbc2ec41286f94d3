import { createFromFetch } from "@vitejs/plugin-rsc/browser";
import { hydrateRoot } from "react-dom/client";

hydrateRoot(document, await createFromFetch(fetch("/big.rsc")));
