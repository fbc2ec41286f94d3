export default function About() {
  return <p>Everybody reads this.</p>;
}
