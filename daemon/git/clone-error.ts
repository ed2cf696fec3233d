/** The clone, or a request to svc's API for it, failed. The message is a sentence for a person, without credentials. */
export class CloneError extends Error {
  override readonly name: string = "CloneError";
  /** Whether a retry is not expected to help. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.permanent = permanent;
  }
}
