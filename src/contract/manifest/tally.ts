/** Counts problems: `2 errors and 1 warning`. */
export function tally(errors: readonly { severity: "error" | "warning" }[]): string {
  const wrong = errors.filter(({ severity }) => severity === "error").length;
  const said = [count(wrong, "error"), count(errors.length - wrong, "warning")];
  return said.filter((part) => part !== "").join(" and ");
}

const count = (n: number, noun: string): string => (n === 0 ? "" : `${n} ${noun}${n === 1 ? "" : "s"}`);
