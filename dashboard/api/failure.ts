import { field, textField } from "../../src/contract/json.ts";

/** An answer of the API that is none of success, or that did not come (contract: URLs, errors, auth). */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  constructor(
    /** The HTTP status; 0: no answer came. */
    readonly status: number,
    readonly code: string,
    message: string,
    /** The answer's other keys, such as `conflicts`. */
    readonly body: unknown = null,
  ) {
    super(message);
  }

  /** Strings under a key of the answer: none where it has no such list. */
  list(name: string): string[] {
    const found = field(this.body, name);
    return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
  }
}

/** What an answer's body says of why it is none of success. */
export function failureOf(status: number, body: unknown): ApiFailure {
  const message = textField(body, "error") || `The server answered with status ${status}.`;
  return new ApiFailure(status, textField(body, "code") || `http_${status}`, message, body);
}

/** What to tell a person of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof ApiFailure ? error.message : "Something went wrong in this page. Load it again.";
}
