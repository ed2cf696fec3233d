/** The path of a ready-made data folder of the embedded database, if the build made one. */
export function embeddedSnapshot(): string | null {
  return null;
}
