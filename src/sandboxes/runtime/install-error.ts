/** An agent could not be installed. The message is a sentence for the operator. */
export class InstallError extends Error {
  override readonly name = "InstallError";
}
