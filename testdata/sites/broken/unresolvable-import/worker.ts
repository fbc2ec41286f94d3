import { greet } from "./greeting";
import { Router } from "a-router-nobody-installed";

export default {
  fetch: () => new Response(greet(Router)),
};
