import type { Option, Word } from "./flags.ts";
import type { Spec } from "./spec.ts";

interface Line {
  options: Option[];
  words: Word[];
}

/**
 * `--json a,b`, as gh has it: the word after `--json` is its value if it names fields of the command and no required argument
 * would be missing, or if the command takes no such argument.
 * @param line without the words of the command's name
 */
export function takeFields({ args, fields = [] }: Spec, { options, words }: Line): Line {
  const at = words.findIndex(({ after }) => after?.name === "json");
  const word = words[at];
  if (word === undefined) return { options, words };
  const isMany = args.some(({ many }) => many);
  const isSurplus = !isMany && words.length > args.length;
  const required = args.filter(({ required }) => required).length;
  const named = word.value.split(",").every((field) => fields.includes(field));
  if (!isSurplus && !(named && words.length > required)) return { options, words };
  return {
    options: options.map((option) => (option === word.after ? { ...option, value: word.value } : option)),
    words: words.filter((each) => each !== word),
  };
}
