import sanitizeHtml from "sanitize-html";
import xssLib, { FilterXSS } from "xss";

const dirty = '<p onclick="steal()">Hi <b>there</b><script>alert(1)</script><a href="javascript:alert(2)">a</a> <a href="https://example.com/?a=1&b=2">b</a><img src=x onerror=alert(3)></p>';

/** https://github.com/apostrophecms/sanitize-html (README) */
export function sanitize() {
  return {
    usual: sanitizeHtml(dirty),
    chosen: sanitizeHtml(dirty, { allowedTags: ["b", "i", "a", "img"], allowedAttributes: { a: ["href", "rel"], img: ["src"] }, transformTags: { a: sanitizeHtml.simpleTransform("a", { rel: "nofollow" }) } }),
    text: sanitizeHtml("<ul>Hello <li>world</li></ul>", { allowedTags: [], allowedAttributes: {} }),
  };
}

/** https://github.com/leizongmin/js-xss#readme */
export function xss() {
  const own = new FilterXSS({ whiteList: { a: ["href"] }, stripIgnoreTag: true, stripIgnoreTagBody: ["script"] });
  return { usual: xssLib(dirty), own: own.process(dirty), style: xssLib('<div style="width: expression(alert(1)); color: red">x</div>', { whiteList: { div: ["style"] } }) };
}
