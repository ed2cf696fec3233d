/** Work could not be saved or restored. The message is a sentence for a person, without credentials. */
export class SaveError extends Error {
  override readonly name = "SaveError";
}
