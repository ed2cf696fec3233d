/** The characters of methods, field names and other tokens (RFC 9110, 5.6.2). */
export const TOKEN = "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~";

/** All from one character to another. */
export function range(first: string, last: string): string {
  let text = "";
  for (let code = first.charCodeAt(0); code <= last.charCodeAt(0); code++) text += String.fromCharCode(code);
  return text;
}

/** Those of all bytes with which it does not throw, in their order. */
export function accepted(read: (character: string) => unknown): string {
  return [...range("\0", "\xff")].filter((character) => !throws(() => read(character))).join("");
}

function throws(act: () => unknown): boolean {
  try {
    act();
    return false;
  } catch {
    return true;
  }
}
