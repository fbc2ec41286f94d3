const line = document.querySelector("#hello");
try {
  const answer = await fetch("/api/hello/visitor");
  line.textContent = answer.ok ? (await answer.json()).message : `The Worker answered ${answer.status}.`;
} catch {
  line.textContent = "The Worker cannot be reached.";
}
