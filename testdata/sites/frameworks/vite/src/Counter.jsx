import { useState } from "react";

export function Counter() {
  const [count, setCount] = useState(0);
  return (
    <button type="button" id="count" onClick={() => setCount(count + 1)}>
      clicked {count} times
    </button>
  );
}
