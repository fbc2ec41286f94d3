// A page that is rendered for each request: 500 rows of server components.
export const dynamic = "force-dynamic";

const boats = Array.from({ length: 500 }, (_, at) => ({ id: at, name: `boat ${at}`, seats: at % 9, tags: ["a", "b", `t${at % 7}`] }));

function Boat({ boat }) {
  return (
    <tr title={boat.name}>
      <td>{boat.name}</td>
      <td style={{ color: boat.id % 2 ? "red" : "blue" }}>{boat.seats}</td>
      <td>
        {boat.tags.map((tag) => (
          <span key={tag} data-tag={tag}>
            {tag}
          </span>
        ))}
      </td>
    </tr>
  );
}

export default function Big() {
  return (
    <table>
      <tbody>
        {boats.map((boat) => (
          <Boat key={boat.id} boat={boat} />
        ))}
      </tbody>
    </table>
  );
}
