import { lines } from "../text.ts";

/** Sanitizes streamed text. A chunk may end inside a CRLF or a surrogate pair: that half waits for the next chunk. */
export function sanitizer(): { text(chunk: string): string; end(): string } {
  let rest = "";
  return {
    text(chunk) {
      const all = rest + chunk;
      const cut = /[\r\ud800-\udbff]$/.test(all) ? all.length - 1 : all.length;
      rest = all.slice(cut);
      return lines(all.slice(0, cut));
    },
    end() {
      const last = lines(rest);
      rest = "";
      return last;
    },
  };
}
