export default {
  fetch(request) {
    if (new URL(request.url).pathname === "/fine") return new Response("fine");
    const hoard = [];
    for (;;) hoard.push(new Uint8Array(1024 * 1024).fill(hoard.length));
  },
};
