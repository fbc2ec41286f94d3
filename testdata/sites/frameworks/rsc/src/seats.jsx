"use client";

import { useState } from "react";

export function Seats({ count }) {
  const [taken, take] = useState(0);
  return (
    <button type="button" onClick={() => take(taken + 1)}>
      {count - taken} seats
    </button>
  );
}
