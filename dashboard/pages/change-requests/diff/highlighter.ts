import { common, createLowlight } from "lowlight";
import type { Token } from "./pieces.ts";

const lowlight = createLowlight(common);

/** File names without an extension that determines the language. */
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ["Makefile", "makefile"],
  ["Gemfile", "ruby"],
  ["Rakefile", "ruby"],
  [".bashrc", "bash"],
  [".gitconfig", "ini"],
]);

/** @returns null if the language is unknown */
export function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const language = BY_NAME.get(name) ?? (name.includes(".") ? ending : "");
  return language !== "" && lowlight.registered(language) ? language : null;
}

/** The tokens of each line of a text. */
export function tokenize(text: string, language: string): Token[][] {
  const lines: Token[][] = [[]];
  let at = 0;
  walk(lowlight.highlight(language, text).children, "");
  return lines;

  function walk(nodes: readonly Node[], name: string): void {
    for (const node of nodes) {
      if (node.type === "text") add(node.value ?? "", name);
      else walk(node.children ?? [], nameOf(node) || name);
    }
  }

  function add(value: string, name: string): void {
    for (const [i, part] of value.split("\n").entries()) {
      if (i > 0) {
        lines.push([]);
        at = 0;
      }
      if (part !== "" && name !== "") lines.at(-1)?.push([at, at + part.length, name]);
      at += part.length;
    }
  }
}

/** The part of hast that is used here. */
interface Node {
  type: string;
  value?: string;
  children?: readonly Node[];
  properties?: { className?: unknown };
}

/** `hljs-title function_` → `hljs-title`. */
function nameOf({ properties }: Node): string {
  const names = properties?.className;
  return Array.isArray(names) && typeof names[0] === "string" ? names[0] : "";
}
