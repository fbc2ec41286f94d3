export default function Vault() {
  return <p>The combination is 31-7-12.</p>;
}
