import { Hono } from 'hono';

const app = new Hono();
app.get('/api/hello', (c) => c.json({ hello: 'world', version: VERSION }));
app.use('/api/chain', async (c, next) => {
  await next();
  c.header('x-bench', 'hono');
});
app.get('/api/chain', (c) => c.json({ hello: 'world' }));
app.get('/api/page', (c) =>
  c.html('<!doctype html><title>page</title><script>new Image().src = location.hash.slice(1) + VERSION</script>'),
);
app.get('/api/crews/:id', (c) => c.json({ id: c.req.param('id') }));
app.post('/api/crews', async (c) => c.json(await c.req.json(), 201));

export default app;
