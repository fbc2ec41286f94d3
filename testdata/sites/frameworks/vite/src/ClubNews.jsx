import { Board } from "./Board.jsx";

export default function ClubNews() {
  return <Board text="The combination has changed." />;
}
