/** The message to a guest after a sign-up, by the code in the address. */
export const NEWS = {
  "signed-up": "You are in. Be at the boathouse a quarter of an hour before.",
  "full": "That boat is full. Try another day.",
  "already-in": "You already have a seat in that boat.",
  "invalid": "Some of what you wrote needs another look: name, e-mail or note.",
  "unreadable": "That was neither a form nor a JSON object.",
  "unknown": "There is no such outing.",
} as const;

export type NewsCode = keyof typeof NEWS;

export function isNews(code: string | undefined): code is NewsCode {
  return code !== undefined && Object.hasOwn(NEWS, code);
}
