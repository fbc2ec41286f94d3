import { createContext, createResource, createSignal, For, Show, Suspense, useContext } from "solid-js";

const Club = createContext("none");

function Boat(props) {
  const [count] = createSignal(props.name.length);
  return <li classList={{ boat: true, long: count() > 4 }} style={{ color: "red" }} onClick={() => {}}>{props.name} of {useContext(Club)}: {count()}</li>;
}

export function App(props) {
  return <Club.Provider value="river"><h1 title={props.name}>Hello {props.name}</h1><ul><For each={["heron", "wren & co"]}>{(name) => <Boat name={name} />}</For></ul><Show when={props.nobody} fallback={<p>nobody</p>}>x</Show><div innerHTML="<i>raw</i>" /></Club.Provider>;
}

export function Later(props) {
  const [what] = createResource(() => new Promise((resolve) => setTimeout(resolve, props.ms, "arrived")));
  return <Suspense fallback={<p>waiting</p>}><p>{what()}</p></Suspense>;
}
