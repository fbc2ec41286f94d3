import { renderToReadableStream } from "@vitejs/plugin-rsc/rsc/server";
import { Boats } from "./boats.jsx";

export default {
  async fetch(request) {
    const stream = renderToReadableStream(<Boats />);
    if (new URL(request.url).pathname.endsWith(".rsc")) {
      return new Response(stream, { headers: { "content-type": "text/x-component;charset=utf-8" } });
    }
    const ssr = await import.meta.viteRsc.loadModule("ssr", "index");
    return new Response(await ssr.page(stream), { headers: { "content-type": "text/html;charset=utf-8" } });
  },
};
