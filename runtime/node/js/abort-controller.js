// What readable-stream takes from the package abort-controller: the globals.
const { AbortController, AbortSignal } = globalThis;
export { AbortController, AbortSignal };
