import type { Change, Motion } from "./editor.ts";

/** The action of a key. */
export type Key =
  | Change
  | { do: "send" }
  | { do: "interrupt" }
  | { do: "leave or erase" }
  | { do: "older" }
  | { do: "newer" }
  | { do: "clear" }
  | { do: "suspend" }
  | { do: "nothing" };

/** A key as node:readline decodes it. */
interface Pressed {
  name?: string | undefined;
  sequence?: string | undefined;
  ctrl?: boolean;
  meta?: boolean;
  shift?: boolean;
}

const move = (to: Motion): Key => ({ do: "move", to });
const erase = (to: Motion): Key => ({ do: "erase", to });

/** The Emacs key bindings of a shell. */
const CTRL: Readonly<Record<string, Key>> = {
  a: move("line start"),
  e: move("line end"),
  b: move("left"),
  f: move("right"),
  left: move("word left"),
  right: move("word right"),
  k: erase("line end"),
  u: erase("line start"),
  w: erase("word left"),
  h: erase("left"),
  backspace: erase("word left"),
  delete: erase("word right"),
  p: { do: "older" },
  n: { do: "newer" },
  c: { do: "interrupt" },
  d: { do: "leave or erase" },
  l: { do: "clear" },
  z: { do: "suspend" },
  j: { do: "insert", text: "\n" },
};
const META: Readonly<Record<string, Key>> = {
  return: { do: "insert", text: "\n" },
  enter: { do: "insert", text: "\n" },
  b: move("word left"),
  f: move("word right"),
  left: move("word left"),
  right: move("word right"),
  d: erase("word right"),
  backspace: erase("word left"),
};
const NAMED: Readonly<Record<string, Key>> = {
  return: { do: "send" },
  // Ctrl-J
  enter: { do: "insert", text: "\n" },
  left: move("left"),
  right: move("right"),
  up: move("up"),
  down: move("down"),
  home: move("line start"),
  end: move("line end"),
  backspace: erase("left"),
  delete: erase("right"),
  tab: { do: "insert", text: "\t" },
};
const NOTHING: Key = { do: "nothing" };
/** Characters kept of a paste: more than a message may have. */
const PASTE_MAX = 1_000_000;

/** Maps keys to actions. A bracketed paste is one change, whatever it holds. */
export class Keyboard {
  #paste: string | null = null;

  /** @param text the characters that the key types, if any */
  read(text: string | undefined, key: Pressed): Key {
    const { name, ctrl, meta, sequence = "" } = key;
    if (name === "paste-start") {
      this.#paste = "";
      return NOTHING;
    }
    if (this.#paste !== null) {
      if (name !== "paste-end") {
        if (this.#paste.length < PASTE_MAX) this.#paste += text ?? sequence;
        return NOTHING;
      }
      const pasted = this.#paste;
      this.#paste = null;
      return pasted === "" ? NOTHING : { do: "paste", text: pasted };
    }
    // also after a lone Escape
    if (sequence.endsWith("\x03")) return { do: "interrupt" };
    if (ctrl) return CTRL[name ?? ""] ?? NOTHING;
    if (meta) return META[name ?? ""] ?? NOTHING;
    if (key.shift && name === "tab") return NOTHING;
    const known = NAMED[name ?? ""];
    if (known) return known;
    return text === undefined || /^\p{Cc}/u.test(text) ? NOTHING : { do: "insert", text };
  }
}
