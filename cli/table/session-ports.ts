import { spec } from "../spec.ts";
import { ID, OWN_ID } from "./session-id.ts";

export const preview = spec({
  path: ["sessions", "preview"],
  guesses: ["url"],
  summary: "Print a preview URL for a port of the sandbox",
  about: ["The first browser that opens the URL is signed in to that port. Treat it like a password."],
  args: [ID, { name: "port", summary: "The port in the sandbox; 3000 by default" }],
  flags: { open: { kind: "boolean", summary: "Open it in the browser too" } },
  fields: ["url", "expires_at"],
  examples: [
    ["svc sessions preview 1a2b3c4d", "Port 3000"],
    ["svc sessions preview 1a2b 5173 --open", "Another port, in the browser"],
  ],
});

export const ports = spec({
  path: ["sessions", "ports"],
  summary: "List the ports on which programs listen in the sandbox of a session",
  about: ["`svc sessions preview` opens one of them. Those of svc itself are left out."],
  args: [OWN_ID],
  flags: {},
  fields: ["port", "process"],
  examples: [
    ["svc sessions ports 1a2b3c4d", "What listens"],
    ["svc sessions ports 1a2b --jq '.[].port'", "Only the numbers"],
  ],
});
