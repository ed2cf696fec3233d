/** The command by which this very program is started again: the binary, or Bun with the source. */
export function thisProgram(): string[] {
  return Bun.main.startsWith("/$bunfs/") ? [process.execPath] : [process.execPath, Bun.main];
}

/** A word that a shell reads as it stands. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
