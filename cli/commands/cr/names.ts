/** The names that a flag has, which can be given several times, and with commas. */
export const namesIn = (given: readonly string[]): string[] =>
  given
    .flatMap((each) => each.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
