/** The command that starts this program: the binary, or Bun with the source. */
export function thisProgram(): string[] {
  return Bun.main.startsWith("/$bunfs/") ? [process.execPath] : [process.execPath, Bun.main];
}

/** Quotes a word for a POSIX shell. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
