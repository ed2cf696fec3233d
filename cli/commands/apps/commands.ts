import type { App } from "../../../src/contract/app.ts";
import { oneLine } from "../../text.ts";

/** The command that prints the log of an app or a preview. */
export function logCommand({ slug, change_request }: Pick<App, "slug" | "change_request">): string {
  const name = oneLine(slug);
  return change_request === null ? `svc apps logs ${name}` : `svc cr apps ${change_request} ${name} --logs`;
}

/** The command that shows the state of an app or a preview. */
export function infoCommand({ slug, change_request }: Pick<App, "slug" | "change_request">): string {
  return change_request === null ? `svc apps info ${oneLine(slug)}` : `svc cr apps ${change_request}`;
}
