import type { Rower } from "./signups";

export interface Issue {
  field: string;
  message: string;
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Reads a guest's sign-up from a form or a JSON body, and lists every error. */
export function readRower(input: Record<string, unknown>): { rower: Rower; issues: Issue[] } {
  const rower = { name: text(input.name), email: text(input.email), note: text(input.note) };
  const issues: Issue[] = [];
  if (rower.name.length < 1 || rower.name.length > 80) {
    issues.push({ field: "name", message: "tell us your name, in 80 characters or fewer" });
  }
  if (rower.email.length > 254 || !EMAIL.test(rower.email)) {
    issues.push({ field: "email", message: "give an e-mail address such as you@example.org" });
  }
  if (rower.note.length > 300) {
    issues.push({ field: "note", message: "keep the note to 300 characters" });
  }
  return { rower, issues };
}

function text(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}
