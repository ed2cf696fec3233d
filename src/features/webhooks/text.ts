import { HIDDEN } from "../../contract/hidden.ts";
import { TEST_EVENT } from "../../contract/webhook.ts";

/** A line of a chat. Longer texts are cut. */
const SHOWN_MAX = 200;
/** Separates characters that have a meaning in chats only beside each other. Not shown. */
const ZERO_WIDTH_SPACE = "\u200b";

/**
 * An event as one sentence for a chat, with a link to its page. Texts of users are escaped as Slack requires, and mention,
 * link or notify nothing in Slack or Mattermost.
 * @param payload the JSON of the event
 * @param site the public URL of the server, without a trailing slash
 */
export function chatText(payload: string, site: string): string {
  const event: unknown = JSON.parse(payload);
  const type = textAt(event, "type");
  const slug = textAt(event, "data", "project", "slug");
  const page = `${site}/projects/${encodeURIComponent(slug)}`;
  const name = escapeText(textAt(event, "data", "project", "name") || slug);
  if (type === TEST_EVENT) return `${name}: a test of this webhook. ${page}`;
  if (type.startsWith("cr.")) {
    const number = textAt(event, "data", "change_request", "number");
    const title = escapeText(textAt(event, "data", "change_request", "title"));
    const comment = escapeText(textAt(event, "data", "comment", "body"));
    const said = comment === "" ? "" : `: ${comment}`;
    return `${name}: change request #${number} “${title}” ${CR_VERBS[type] ?? "has changed"}${said} ${page}/change-requests/${number}`;
  }
  if (type.startsWith("session.")) {
    const id = textAt(event, "data", "session", "session_id");
    const title = escapeText(textAt(event, "data", "session", "name") || id.slice(0, 8));
    const error = escapeText(textAt(event, "data", "session", "error"));
    return `${name}: session “${title}” ${SESSION_VERBS[type] ?? "has changed"}${error === "" ? "" : `: ${error}`} ${page}/sessions/${encodeURIComponent(id)}`;
  }
  if (type.startsWith("check.")) {
    const context = escapeText(textAt(event, "data", "status", "context"));
    const said = escapeText(textAt(event, "data", "status", "description"));
    const number = textAt(event, "data", "change_requests", "0");
    const of =
      number === "" ? textAt(event, "data", "status", "sha").slice(0, 10) : `change request #${number}`;
    const to = number === "" ? page : `${page}/change-requests/${number}`;
    return `${name}: check “${context}” of ${of} ${CHECK_VERBS[type] ?? "has changed"}${said === "" ? "" : `: ${said}`} ${to}`;
  }
  const app = textAt(event, "data", "app", "slug");
  const error = escapeText(textAt(event, "data", "deployment", "error"));
  const number = textAt(event, "data", "deployment", "number");
  const cr = textAt(event, "data", "app", "change_request");
  const of = cr === "" ? escapeText(app) : `the preview of ${escapeText(app)} in change request #${cr}`;
  const to = cr === "" ? `${page}/apps/${encodeURIComponent(app)}` : `${page}/change-requests/${cr}`;
  return `${name}: deployment ${number} of ${of} ${DEPLOYMENT_VERBS[type] ?? "has changed"}${error === "" ? "" : `: ${error}`} ${to}`;
}

const CR_VERBS: Readonly<Record<string, string>> = {
  "cr.opened": "was opened",
  "cr.updated": "was updated",
  "cr.merged": "was merged",
  "cr.closed": "was closed",
  "cr.commented": "has a new comment",
  "cr.approved": "was approved",
  "cr.changes_requested": "needs changes",
  "cr.review_requested": "needs a review",
};

const CHECK_VERBS: Readonly<Record<string, string>> = {
  "check.pending": "is pending",
  "check.succeeded": "has passed",
  "check.failed": "has failed",
};

const SESSION_VERBS: Readonly<Record<string, string>> = {
  "session.started": "has started",
  "session.waiting": "waits for you",
  "session.finished": "has stopped",
  "session.failed": "has failed",
};

const DEPLOYMENT_VERBS: Readonly<Record<string, string>> = {
  "deployment.started": "has started",
  "deployment.live": "is live",
  "deployment.failed": "has failed",
  "deployment.stopped": "was stopped",
};

/** Escapes a text of a user for Slack and Mattermost (Slack: Formatting text; Mattermost: Incoming webhooks). */
function escapeText(text: string): string {
  const line = text.replace(HIDDEN, " ").replace(/\s+/g, " ").trim();
  const shown = [...line];
  const short = shown.length > SHOWN_MAX ? `${shown.slice(0, SHOWN_MAX - 1).join("")}…` : line;
  return (
    short
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      // neither mentions (@channel), nor links with another text ([a](b)), nor markup of code and emphasis
      .replace(/[@\]`*_~#]/g, (mark) => mark + ZERO_WIDTH_SPACE)
      // chats turn such addresses into links
      .replace(/:\/\//g, `:${ZERO_WIDTH_SPACE}//`)
  );
}

/** The text or number at a path; "" if there is none. */
function textAt(value: unknown, ...path: string[]): string {
  let found = value;
  for (const key of path) found = Reflect.get(Object(found), key);
  return typeof found === "string" || typeof found === "number" ? String(found) : "";
}
