import { createFromReadableStream, getClientEntryUrl } from "@vitejs/plugin-rsc/ssr";
import { renderToReadableStream } from "react-dom/server.edge";

export async function page(stream) {
  return renderToReadableStream(await createFromReadableStream(stream), { bootstrapModules: [getClientEntryUrl()] });
}
