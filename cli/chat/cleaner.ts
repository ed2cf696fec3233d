import { lines } from "../text.ts";

/** Makes text that comes in pieces safe: a piece may end between the two halves of something. */
export function cleaner(): { text(piece: string): string; end(): string } {
  let rest = "";
  return {
    text(piece) {
      const all = rest + piece;
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
