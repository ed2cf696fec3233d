/** An invalid or unsupported message. `status` is the response to a client. */
export class HeadError extends Error {
  override readonly name = "HeadError";
  readonly status: 400 | 413 | 431 | 501 | 505;

  constructor(status: HeadError["status"], message: string) {
    super(message);
    this.status = status;
  }
}
