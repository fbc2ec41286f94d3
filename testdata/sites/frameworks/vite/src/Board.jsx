export function Board({ text }) {
  return <p>The combination board says: {text}</p>;
}
