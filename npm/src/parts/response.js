/** Makes response one that came from url. */
export function answered(response, url, redirected) {
  return Object.defineProperties(response, { url: { value: url }, redirected: { value: redirected } });
}
