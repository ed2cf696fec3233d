/** Change requests that one prompt brings along. */
const REFERENCES_MAX = 3;

/** The numbers of the change requests that a prompt mentions, such as `#12`; the first ones, each once. */
export function referencedNumbers(text: string): number[] {
  const numbers = [...text.matchAll(/(?<![\w#&/])#([1-9]\d{0,8})(?![\w-])/g)].map(([, number]) =>
    Number(number),
  );
  return [...new Set(numbers)].slice(0, REFERENCES_MAX);
}
