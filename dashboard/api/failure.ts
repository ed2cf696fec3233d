import { arrayOf, field, textField } from "../../src/contract/json.ts";

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

/** Codes that are about one thing that was sent, though they do not say so: code → its name. */
const ABOUT: Readonly<Record<string, string>> = {
  invalid_repo_url: "repo_url",
  repo_not_allowed: "repo_url",
  repo_unreachable: "repo_url",
  invalid_ref: "default_branch",
  ref_not_found: "default_branch",
  reserved_name: "name",
};

/**
 * What an error says of the fields of a form, to be shown beside them.
 * @param fields the form's, by the names that the API calls them
 * @returns `of`: the words for a field; `rest`: the error, unless all of it is said beside a field
 */
export function byField(error: unknown, fields: readonly string[]) {
  const said = new Map<string, string>();
  if (error instanceof ApiFailure) {
    for (const detail of arrayOf(field(error.body, "details"))) {
      const name = textField(detail, "path").replace(/^body\./, "");
      if (fields.includes(name) && !said.has(name)) said.set(name, sentence(textField(detail, "message")));
    }
    const name = ABOUT[error.code];
    if (said.size === 0 && name !== undefined && fields.includes(name)) said.set(name, error.message);
  }
  return { of: (name: string) => said.get(name), rest: said.size > 0 ? null : error };
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
