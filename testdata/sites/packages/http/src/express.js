// https://expressjs.com/en/5x/api.html
import { Readable } from "node:stream";
import express from "express";

const app = express();
app.use((req, res, next) => {
  res.set("X-Seen", `${req.method} ${req.originalUrl}`);
  next();
});
app.use(express.json({ limit: "1kb" }), express.urlencoded({ extended: true }));

const birds = express.Router();
birds.get("/", (req, res) => res.send("Birds home page"));
birds.get("/:id", (req, res) => res.json({ id: req.params.id, query: req.query, base: req.baseUrl }));

app.use("/express/birds", birds);
app.get("/express/text", (req, res) => res.send("Hello World!"));
app.post("/express/body", (req, res) => res.status(201).json({ body: req.body, type: req.get("Content-Type") }));
app.get("/express/who", (req, res) => res.json({ host: req.hostname, ip: req.ip, secure: req.secure, xhr: req.xhr, accepts: req.accepts(["json", "html"]) }));
app.get("/express/cookie", (req, res) => res.cookie("name", "tobi", { path: "/", httpOnly: true }).cookie("rm", "1", { maxAge: 0 }).clearCookie("old").send("set"));
app.get("/express/go", (req, res) => res.redirect("/express/text"));
app.get("/express/format", (req, res) => res.format({ text: () => res.send("hey"), json: () => res.send({ message: "hey" }) }));
app.get("/express/stream", (req, res) => Readable.from(["a", "b", "c"]).pipe(res.type("txt")));
app.get("/express/empty", (req, res) => res.sendStatus(204));
app.get("/express/boom", async () => { throw new Error("BROKEN"); });
app.get("/express/late", async (req, res) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  res.send(Buffer.from("later"));
});
app.get(/^\/express\/re(\d+)$/, (req, res) => res.send(req.params[0]));
app.use((error, req, res, next) => {
  if (res.headersSent) return next(error);
  res.status(error.status ?? 500).send(`${error.message} (${error.type ?? error.name})`);
});
app.listen(3001);
