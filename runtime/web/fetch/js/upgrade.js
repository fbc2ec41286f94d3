// WebSockets are made of fetches, and a fetch or a Response may be one: the folder socket sets the
// functions that this folder needs for them.

/** Opens a connection, for a fetch with the header Upgrade. */
export let dial;

/** Whether a value is a WebSocket. */
export let isSocket;

export function provideSockets(functions) {
  ({ dial, isSocket } = functions);
}
