import { Upload, type HttpRequest, type HttpResponse, type HttpStack } from "tus-js-client";
import type { Env } from "./worker.ts";

// A server of tus (https://tus.io/protocols/resumable-upload) on multipart uploads: what it knows of an upload is in the namespace.
interface State { upload: string; length: number; offset: number; parts: R2UploadedPart[] }

async function serve(env: Env, request: Request): Promise<Response> {
  const key = new URL(request.url).pathname.slice("/files/".length), headers = new Headers({ "tus-resumable": "1.0.0" });
  if (request.method === "POST") {
    const name = crypto.randomUUID(), made = await env.BUCKET.createMultipartUpload(name);
    const state: State = { upload: made.uploadId, length: Number(request.headers.get("upload-length")), offset: 0, parts: [] };
    await env.KV.put(name, JSON.stringify(state));
    headers.set("location", `/files/${name}`);
    return new Response(null, { status: 201, headers });
  }
  const state = await env.KV.get<State>(key, "json");
  if (state === null) return new Response(null, { status: 404, headers });
  if (request.method === "PATCH") {
    if (Number(request.headers.get("upload-offset")) !== state.offset) return new Response(null, { status: 409, headers });
    const upload = env.BUCKET.resumeMultipartUpload(key, state.upload), bytes = await request.arrayBuffer();
    state.parts.push(await upload.uploadPart(state.parts.length + 1, bytes));
    state.offset += bytes.byteLength;
    if (state.offset === state.length) await upload.complete(state.parts);
    await env.KV.put(key, JSON.stringify(state));
  }
  headers.set("upload-offset", `${state.offset}`);
  headers.set("upload-length", `${state.length}`);
  return new Response(null, { status: request.method === "PATCH" ? 204 : 200, headers });
}

// The client's requests go to that server; one of them is lost on its way back.
class Stack implements HttpStack {
  seen: string[] = [];
  constructor(private env: Env, private lose: number) {}
  getName() { return "direct"; }
  createRequest(method: string, url: string): HttpRequest {
    const headers: Record<string, string> = {}, address = new URL(url, "https://example.com").href;
    return {
      getMethod: () => method, getURL: () => address, getHeader: (name) => headers[name],
      setHeader: (name, value) => { headers[name] = value; }, setProgressHandler: () => {}, abort: async () => {}, getUnderlyingObject: () => null,
      send: async (body?: Blob): Promise<HttpResponse> => {
        const answer = await serve(this.env, new Request(address, { method, headers, body: body ?? null }));
        this.seen.push(`${method} ${answer.status}`);
        if (method === "PATCH" && --this.lose === 0) throw new Error("the connection was reset");
        return { getStatus: () => answer.status, getHeader: (name) => answer.headers.get(name) ?? undefined, getBody: () => "", getUnderlyingObject: () => answer };
      },
    } as HttpRequest;
  }
}

export async function resumable(_request: Request, env: Env): Promise<unknown> {
  const part = 5 << 20, bytes = new Uint8Array(part + 1234);
  for (let at = 0; at < bytes.length; at += 1 << 16) crypto.getRandomValues(bytes.subarray(at, at + (1 << 16)));
  const sum = async (data: BufferSource) => new Uint8Array(await crypto.subtle.digest("SHA-256", data)).join();
  const stack = new Stack(env, 1), progress: number[] = [];
  const url = await new Promise<string | null>((resolve, reject) => {
    const upload = new Upload(new Blob([bytes]) as File, {
      endpoint: "https://example.com/files/", chunkSize: part, retryDelays: [0, 1], httpStack: stack, storeFingerprintForResuming: false,
      onChunkComplete: (_size, accepted) => { progress.push(accepted); }, onError: reject, onSuccess: () => resolve(upload.url),
    });
    upload.start();
  });
  const key = new URL(url!).pathname.slice("/files/".length), object = await env.BUCKET.get(key);
  const stored = await object!.arrayBuffer();
  return { seen: stack.seen, progress, size: object!.size, parts: object!.etag.split("-")[1], same: await sum(stored) === await sum(bytes) };
}
