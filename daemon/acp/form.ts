import { arrayOf, field, isObject, textField } from "../../src/contract/json.ts";

/** Fields of a form, and options of a field. */
const FIELDS_MAX = 20;
const OPTIONS_MAX = 50;
const TEXT_MAX = 4_000;
const YES_NO = [
  { value: true, label: "Yes", description: "" },
  { value: false, label: "No", description: "" },
];

/** A question, in the format of the runtime's `GET /question`. */
export interface Question {
  question: string;
  options: { label: string; description: string }[];
  multiple: boolean;
  custom: boolean;
}

/** A field of a form, and the question that stands for it. */
interface FormField {
  key: string;
  type: string;
  question: Question;
  /** What the options mean to the agent, in their order. */
  values: (string | boolean)[];
  /** The field for an answer in one's own words, where the agent has one beside the options. */
  customKey: string | null;
}

/**
 * The fields of a form of the protocol (Agent Client Protocol 1, Elicitation), as questions. A form without fields asks for
 * a confirmation.
 */
export function readForm(params: unknown): FormField[] {
  const message = textField(params, "message").slice(0, TEXT_MAX);
  const properties = field(field(params, "requestedSchema"), "properties");
  const entries = isObject(properties) ? Object.entries(properties) : [];
  const isCustom = (key: string) =>
    key.endsWith("_custom") && entries.some(([other]) => `${other}_custom` === key);
  const shown = entries.filter(([key]) => !isCustom(key)).slice(0, FIELDS_MAX);
  return shown.map(([key, property]) => {
    const type = textField(property, "type");
    const options = optionsOf(type, property);
    const customKey = entries.some(([other]) => other === `${key}_custom`) ? `${key}_custom` : null;
    const own = textField(property, "description") || textField(property, "title") || key;
    return {
      ...{ key, type, customKey, values: options.map(({ value }) => value) },
      question: {
        question: shown.length === 1 ? message || own : own.slice(0, TEXT_MAX),
        options: options.map(({ label, description }) => ({ label, description })),
        multiple: type === "array",
        custom: options.length === 0 || customKey !== null,
      },
    };
  });
}

/**
 * What the agent gets for the answers to its questions.
 * @param answers labels, or words of the person, for each question; none: it was left out
 */
export function contentOfForm(
  form: readonly FormField[],
  answers: readonly string[][],
): Record<string, unknown> {
  return Object.fromEntries(form.flatMap((each, at) => valuesOf(each, answers[at] ?? [])));
}

function valuesOf({ key, type, question, values, customKey }: FormField, answers: readonly string[]) {
  const found = answers.map((answer) => question.options.findIndex(({ label }) => label === answer));
  const chosen = found.flatMap((at) => values[at] ?? []);
  const words = answers.filter((_, at) => found[at] === -1).join(", ");
  const entries: [string, unknown][] = [];
  if (type === "array") {
    if (chosen.length > 0) entries.push([key, chosen]);
  } else if (chosen.length > 0) entries.push([key, chosen[0]]);
  else if (words !== "" && question.options.length === 0) entries.push([key, fromWords(type, words)]);
  if (words !== "" && customKey !== null) entries.push([customKey, words]);
  return entries;
}

function fromWords(type: string, words: string): string | number {
  const number = Number(words);
  return (type === "number" || type === "integer") && Number.isFinite(number) ? number : words;
}

function optionsOf(type: string, property: unknown) {
  if (type === "boolean") return YES_NO;
  const of = type === "array" ? field(property, "items") : property;
  const titled = [...arrayOf(field(of, "oneOf")), ...arrayOf(field(of, "anyOf"))].map((option) => ({
    value: textField(option, "const"),
    label: (textField(option, "title") || textField(option, "const")).slice(0, TEXT_MAX),
    description: textField(option, "description").slice(0, TEXT_MAX),
  }));
  const plain = arrayOf(field(of, "enum")).flatMap((value) =>
    typeof value === "string" ? [{ value, label: value.slice(0, TEXT_MAX), description: "" }] : [],
  );
  return [...titled, ...plain].slice(0, OPTIONS_MAX);
}
