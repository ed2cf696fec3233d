/**
 * Removes credentials, paths of the server, terminal escapes and control characters (except line ends) from git's
 * output, and truncates it to `maxBytes`.
 * @param secrets strings that must not appear: tokens, headers built from them
 * @param paths directories of the server
 */
export function redact(
  text: string,
  secrets: readonly string[],
  paths: readonly string[],
  maxBytes = 2048,
): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= SECRET_MIN) clean = clean.replaceAll(secret, "***");
  for (const path of paths) clean = clean.replaceAll(path, "");
  clean = clean
    .replace(ESCAPES, "")
    .replace(/\r\n?/g, "\n")
    .replace(CONTROLS, "")
    .replace(/(:\/\/)[^\s/@'"]*@/g, "$1")
    .replace(/(authorization:?\s*)(?:basic|bearer)?\s*\S+/gi, "$1***")
    .trim();
  return cut(clean, maxBytes);
}

/** Shorter strings are not secrets; replacing them would garble the text. */
const SECRET_MIN = 4;
/** CSI and OSC sequences and two-character escapes (ECMA-48). */
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  return `${new TextDecoder().decode(bytes).replace(/\ufffd+$/, "")}…`;
}
