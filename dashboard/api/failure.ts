import { arrayOf, field, textField } from "../../src/contract/json.ts";

/** An error response of the API, or no response at all (contract: URLs, errors, auth). */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  constructor(
    /** The HTTP status; 0: no response. */
    readonly status: number,
    readonly code: string,
    message: string,
    /** The response body, for other keys such as `conflicts`. */
    readonly body: unknown = null,
  ) {
    super(message);
  }

  /** The strings of the array under a key of the body; empty if there is no such array. */
  list(name: string): string[] {
    const found = field(this.body, name);
    return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
  }
}

/** Reads the body of an error response. */
export function failureOf(status: number, body: unknown): ApiFailure {
  const message = textField(body, "error") || `The server answered with status ${status}.`;
  return new ApiFailure(status, textField(body, "code") || `http_${status}`, message, body);
}

/** The message to show for any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof ApiFailure ? error.message : "Something went wrong on this page. Reload it.";
}

/** Error codes without details that belong to one field of the request: code → field. */
const FIELD_OF_CODE: Readonly<Record<string, string>> = {
  invalid_repo_url: "repo_url",
  repo_not_allowed: "repo_url",
  repo_unreachable: "repo_url",
  invalid_ref: "default_branch",
  ref_not_found: "default_branch",
  reserved_name: "name",
};

/**
 * Splits an error into messages that a form shows next to its fields.
 * @param fields the fields of the form, by their names in the API
 * @returns `of`: the message of a field; `rest`: the error, unless a field shows it
 */
export function byField(error: unknown, fields: readonly string[]) {
  const messages = new Map<string, string>();
  if (error instanceof ApiFailure) {
    for (const detail of arrayOf(field(error.body, "details"))) {
      const name = textField(detail, "path").replace(/^body\./, "");
      if (!fields.includes(name) || messages.has(name)) continue;
      messages.set(name, sentence(textField(detail, "message")));
    }
    const name = FIELD_OF_CODE[error.code];
    if (messages.size === 0 && name !== undefined && fields.includes(name)) messages.set(name, error.message);
  }
  return { of: (name: string) => messages.get(name), rest: messages.size > 0 ? null : error };
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
