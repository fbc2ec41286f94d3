import { lazy, Suspense } from "react";
import { Counter } from "./Counter.jsx";

const Vault = lazy(() => import("./Vault.jsx")); // of members, by the route that it is tied to
const ClubNews = lazy(() => import("./ClubNews.jsx")); // of members, by its name
const About = lazy(() => import("./About.jsx"));

const routes = [
  { path: "/club/vault", element: <Vault /> },
  { path: "/club/", element: <ClubNews /> },
  { path: "/about", element: <About /> },
  { path: "/", element: <Home /> },
];

function Home() {
  return (
    <form method="post" action="/__pages/forms/contact">
      <input name="email" aria-label="email" />
      <button type="submit">Send</button>
    </form>
  );
}

export function App() {
  return (
    <main>
      <Counter />
      <Suspense fallback="loading">{routes.find((route) => location.pathname.startsWith(route.path)).element}</Suspense>
    </main>
  );
}
