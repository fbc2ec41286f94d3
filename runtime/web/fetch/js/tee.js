// https://fetch.spec.whatwg.org/#concept-body-clone The package's tee gives both branches the same
// chunks; a body's clone has copies, so that code which changes or transfers a chunk of one does
// not change the other's.
import { cloneWith } from "../../messaging/js/clone.js";
import { PLAIN, ReadableStream, isBytes } from "../../streams/js/streams.js";

/** Splits a stream in two; the chunks of the second branch are clones. */
export function teeCloned(stream) {
  if (isBytes(stream)) return stream.tee(); // a stream of bytes copies its chunks itself
  const reader = stream.getReader(),
    controllers = [],
    cancelled = [false, false],
    reasons = [];
  let reading = false,
    again = false,
    finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  const open = (act) => {
    for (const at of [0, 1]) if (!cancelled[at]) act(controllers[at], at);
  };
  const fail = (error) => {
    open((controller) => {
      controller.error(error);
    });
  };
  const take = ({ done, value }) => {
    if (done) {
      open((controller) => {
        controller.close();
      });
      return finish();
    }
    let copy;
    try {
      if (!cancelled[1]) [copy] = cloneWith(value, []);
    } catch (error) {
      fail(error);
      return finish(reader.cancel(error));
    }
    open((controller, at) => {
      controller.enqueue(at === 0 ? value : copy);
    });
    reading = false;
    if (again) pull();
  };
  const pull = () => {
    again = reading;
    if (reading) return;
    reading = true;
    reader.read().then(take, () => {}); // of an error closed tells
  };
  reader.closed.catch((error) => {
    fail(error);
    finish();
  });
  const branch = (at) =>
    new ReadableStream(
      {
        start(controller) {
          controllers[at] = controller;
        },
        pull,
        cancel(reason) {
          cancelled[at] = true;
          reasons[at] = reason;
          if (!cancelled[1 - at]) return undefined; // it does not wait for the other, as in production
          finish(reader.cancel(reasons));
          return finished;
        },
      },
      PLAIN,
    );
  return [branch(0), branch(1)];
}
