export default function Home() {
  return <h1>Boats</h1>;
}
