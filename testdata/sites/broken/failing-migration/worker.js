export default {
  async fetch(request, env) {
    const { results } = await env.DB.prepare("SELECT name FROM boats ORDER BY name").all();
    return Response.json(results);
  },
};
