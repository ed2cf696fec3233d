/** The clone, or what it needs from svc's API, failed. The message is a sentence for a person, without credentials. */
export class CloneError extends Error {
  override readonly name: string = "CloneError";
  /** Trying again is not expected to help. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.permanent = permanent;
  }
}
