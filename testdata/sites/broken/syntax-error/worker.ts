const greeting: string = "Grüße vom Fluß" + ;

export default {
  fetch: () => new Response(greeting),
};
