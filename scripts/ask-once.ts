import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where an answer is kept, and how the question is asked. */
export interface Question {
  dataDir: string;
  /** The name of a file in the data folder. */
  name: string;
  ask(): Promise<boolean>;
  /** Whether an answer is kept; a question that was interrupted is asked again. */
  keeps(): boolean;
}

/** The stored answer to a question of `npm start`, else the user's, which is then stored: each is asked once. */
export async function askOnce({ dataDir, name, ask, keeps }: Question): Promise<boolean> {
  const file = join(dataDir, name);
  const stored = read(file);
  if (stored !== null) return stored;
  const answer = await ask();
  if (keeps()) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(file, answer ? "yes\n" : "no\n", { mode: 0o600 });
  }
  return answer;
}

function read(file: string): boolean | null {
  try {
    const text = readFileSync(file, "utf8").trim();
    return text === "yes" ? true : text === "no" ? false : null;
  } catch {
    return null;
  }
}
