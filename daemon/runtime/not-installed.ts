import { stat } from "node:fs/promises";

/** The runtime's program was not found. The message says what to install. */
export class NotInstalledError extends Error {
  override readonly name = "NotInstalledError";
}

export async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}
