import type { Member } from "../env";

export const NOTE_LENGTH = 500;

export interface Note {
  id: string;
  author: string;
  body: string;
  created_at: string;
}

export async function newestNotes(db: D1Database): Promise<Note[]> {
  const { results } = await db
    .prepare("SELECT id, author, body, created_at FROM notes ORDER BY created_at DESC LIMIT 20")
    .all<Note>();
  return results;
}

export async function addNote(db: D1Database, author: Member, body: string): Promise<void> {
  await db
    .prepare("INSERT INTO notes (id, author_id, author, body) VALUES (?, ?, ?, ?)")
    .bind(crypto.randomUUID(), author.id, author.name, body)
    .run();
}
