import { usage } from "../../failure.ts";
import { oneLine } from "../../text.ts";

/** The number of a deployment. @throws usage */
export function readNumber(text: string): number {
  if (/^[1-9][0-9]{0,5}$/.test(text)) return Number(text);
  throw usage(
    `A deployment is a number such as 3, not "${oneLine(text)}".`,
    "List them: svc apps history <slug>",
  );
}
