import { Elysia } from "elysia";
import { slackAccepted } from "../../contract/channel.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { receiveEvent, receiveInteraction } from "./slack/receive.ts";

/** What Slack sends. It is authenticated by the signature with the app's signing secret, not by a token. */
export const slackRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/channels/slack", tags: ["channels"] })
    .post("/events", ({ request }) => receiveEvent(deps, request), {
      detail: { ...answer(200, slackAccepted).detail, ...SIGNED },
    })
    .post("/interactions", ({ request }) => receiveInteraction(deps, request), {
      detail: { ...answer(200, slackAccepted).detail, ...SIGNED },
    });

function header(name: string, pattern: string) {
  return { name, in: "header" as const, schema: { type: "string" as const, pattern } };
}

/** The signature covers the bytes of the body, whatever they are. */
const SIGNED = {
  parameters: [
    header("X-Slack-Signature", "^v0=[0-9a-f]{64}$"),
    header("X-Slack-Request-Timestamp", "^\\d+$"),
  ],
  requestBody: { content: { "*/*": { schema: { type: "string" as const, format: "binary" } } } },
};
