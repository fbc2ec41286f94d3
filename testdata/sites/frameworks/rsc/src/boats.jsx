import { Seats } from "./seats.jsx";

const boats = Array.from({ length: 400 }, (_, at) => ({ id: at, name: `boat ${at}`, seats: at % 9, tags: ["a", "b", `t${at % 7}`] }));

function Boat({ boat }) {
  return (
    <li title={boat.name}>
      {boat.name}
      <Seats count={boat.seats} />
      {boat.tags.map((tag) => (
        <span key={tag} data-tag={tag}>
          {tag}
        </span>
      ))}
    </li>
  );
}

export function Boats() {
  return (
    <html lang="en">
      <head>
        <title>Boats</title>
      </head>
      <body>
        <ul>
          {boats.map((boat) => (
            <Boat key={boat.id} boat={boat} />
          ))}
        </ul>
      </body>
    </html>
  );
}
