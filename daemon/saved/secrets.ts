/** What must not be in saved work: values of secrets, and svc's own tokens. */
export interface Needles {
  /** Whether bytes hold one. */
  isIn(bytes: Buffer): boolean;
  /** Bytes that two pieces of a content have to share so that one on their border is found. */
  overlap: number;
  /** The same needles have the same. */
  id: string;
}

/** A shorter value is in many files by chance. */
const SECRET_MIN = 8;
/** A token of svc's: its kind, and enough of what follows that no text about tokens is meant. */
const TOKENS = ["svc_pat_", "svc_sb_", "svc_git_"];
const TOKEN_REST = 32;
const TOKEN_CHARACTER = /[A-Za-z0-9._-]/;

export function createNeedles(values: Iterable<string>): Needles {
  const wanted = [...new Set([...values].map((value) => value.trim()))].filter(
    (value) => value.length >= SECRET_MIN,
  );
  const needles = wanted.map((value) => Buffer.from(value));
  return {
    isIn: (bytes) =>
      needles.some((needle) => bytes.includes(needle)) || TOKENS.some((kind) => hasToken(bytes, kind)),
    overlap: Math.max(TOKEN_REST + 16, ...needles.map(({ length }) => length)) - 1,
    id: new Bun.CryptoHasher("sha256").update(JSON.stringify(wanted.toSorted())).digest("hex"),
  };
}

function hasToken(bytes: Buffer, kind: string): boolean {
  for (let at = bytes.indexOf(kind); at >= 0; at = bytes.indexOf(kind, at + 1)) {
    const rest = bytes.toString("latin1", at + kind.length, at + kind.length + TOKEN_REST);
    if (rest.length === TOKEN_REST && [...rest].every((character) => TOKEN_CHARACTER.test(character)))
      return true;
  }
  return false;
}

/** Files that are made to hold credentials. Their samples are not. */
const NAMES = [
  /^\.env$/,
  /^\.env\.(?!(?:.*\.)?(?:example|sample|template)$)/,
  /\.(?:pem|key)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /^\.(?:netrc|npmrc|pypirc|git-credentials)$/,
  /^credentials\.json$/,
];

/** Whether a file holds credentials, by its name. */
export function holdsCredentials(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return NAMES.some((pattern) => pattern.test(name));
}
