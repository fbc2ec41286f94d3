/** Sets url as the address of a response. */
export function answered(response, url, redirected) {
  return Object.defineProperties(response, { url: { value: url }, redirected: { value: redirected } });
}
