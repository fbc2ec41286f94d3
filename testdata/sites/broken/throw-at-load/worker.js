const settings = JSON.parse('{"colour": blue}');

export default {
  fetch: () => new Response(settings.colour),
};
