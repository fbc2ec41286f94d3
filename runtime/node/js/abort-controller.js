// readable-stream imports this from the package abort-controller: the globals.
const { AbortController, AbortSignal } = globalThis;
export { AbortController, AbortSignal };
