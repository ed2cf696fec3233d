/** What must not be in saved work: values of secrets, and svc's own tokens. */
export interface SecretPatterns {
  /** Whether bytes contain a secret. */
  isIn(bytes: Buffer): boolean;
  /** Bytes that two pieces of a content must share so that a secret across their border is found. */
  overlap: number;
}

/** All values that were secrets in this sandbox so far, and the objects that contain none of them. */
export class SecretHistory {
  readonly #values = new Set<string>();
  readonly #clean = new Set<string>();
  #patterns = createSecretPatterns([]);

  update(values: readonly string[]): { patterns: SecretPatterns; clean: Set<string> } {
    const count = this.#values.size;
    for (const value of values) this.#values.add(value);
    if (this.#values.size > count) {
      this.#patterns = createSecretPatterns(this.#values);
      this.#clean.clear();
    }
    return { patterns: this.#patterns, clean: this.#clean };
  }
}

/** A shorter value occurs in many files by chance. */
const SECRET_MIN = 8;
/** A token of svc: its prefix and enough characters after it that a text about tokens does not match. */
const TOKENS = ["svc_pat_", "svc_sb_", "svc_git_"];
const TOKEN_REST = 32;
const TOKEN_CHARACTER = /[A-Za-z0-9._-]/;

function createSecretPatterns(values: Iterable<string>): SecretPatterns {
  const trimmed = new Set([...values].map((value) => value.trim()));
  const secrets = [...trimmed]
    .filter((value) => value.length >= SECRET_MIN)
    .map((value) => Buffer.from(value));
  return {
    isIn: (bytes) =>
      secrets.some((secret) => bytes.includes(secret)) || TOKENS.some((prefix) => hasToken(bytes, prefix)),
    overlap: Math.max(TOKEN_REST + 16, ...secrets.map(({ length }) => length)) - 1,
  };
}

function hasToken(bytes: Buffer, prefix: string): boolean {
  for (let at = bytes.indexOf(prefix); at >= 0; at = bytes.indexOf(prefix, at + 1)) {
    const rest = bytes.toString("latin1", at + prefix.length, at + prefix.length + TOKEN_REST);
    if (rest.length === TOKEN_REST && [...rest].every((character) => TOKEN_CHARACTER.test(character)))
      return true;
  }
  return false;
}

/** Files that hold credentials by convention, except for their samples. */
const NAMES = [
  /^\.env$/,
  /^\.env\.(?!(?:.*\.)?(?:example|sample|template)$)/,
  /\.(?:pem|key)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /^\.(?:netrc|npmrc|pypirc|git-credentials)$/,
  /^credentials\.json$/,
];

/** Whether a file holds credentials, judging by its name. */
export function holdsCredentials(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return NAMES.some((pattern) => pattern.test(name));
}
