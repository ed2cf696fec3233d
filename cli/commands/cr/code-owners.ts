import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { oneLine } from "../../text.ts";

/** Lines of the CODEOWNERS file that are shown; `--json` has all. */
const SHOWN_MAX = 5;

/** Which files wait for which code owners; null: the project requires no review from them, or it is not open. */
export function codeOwnersText({ code_owner_reviews: reviews }: ChangeRequest): string | null {
  if (reviews === null) return null;
  if (reviews.state === "pending") return "not read yet";
  if (reviews.state === "approved") return "approved";
  const shown = reviews.missing.slice(0, SHOWN_MAX).map(missingText);
  const left = reviews.missing.length - shown.length;
  return [...shown, ...(left > 0 ? [`and the files of ${left} more lines`] : [])].join("; ");
}

type Missing = NonNullable<ChangeRequest["code_owner_reviews"]>["missing"][number];

function missingText({ files: [first = ""], total, owners, problem }: Missing): string {
  if (problem !== null) return oneLine(problem);
  const more = total > 1 ? ` and ${total - 1} more` : "";
  return `${oneLine(first)}${more}: ${owners.map(({ name }) => oneLine(name)).join(" or ")}`;
}
