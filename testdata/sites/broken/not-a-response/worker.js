export default {
  fetch: () => ({ status: 200, body: "an object that only looks like a response" }),
};
