import list from "../data/boats.json";

export interface Boat {
  id: string;
  name: string;
  class: string;
  seats: number;
  built: number;
  for: string;
}

export const boats: readonly Boat[] = list;

export function boatOf(id: string): Boat | undefined {
  return boats.find((boat) => boat.id === id);
}
