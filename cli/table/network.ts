import type { AllowedHosts, SessionConnection } from "../../src/contract/network.ts";
import { bind, type Group, spec } from "../spec.ts";
import { fieldsOf } from "./fields.ts";
import { ID } from "./session-id.ts";

export const ls = spec({
  path: ["network", "ls"],
  summary: "List what the sandbox of a session connected to, and what was refused",
  about: [
    "What passed is counted by host, what was refused by host and port, up to 200 of each. The newest first. In Docker, connections of a sandbox whose policy is `open` are not counted.",
  ],
  args: [ID],
  flags: {
    refused: { kind: "boolean", summary: "Only what was refused" },
  },
  fields: fieldsOf<SessionConnection>()([
    "outcome",
    "host",
    "port",
    "connections",
    "sent",
    "received",
    "last_at",
  ]),
  examples: [
    ["svc network ls 1a2b3c4d", "The connections of a session"],
    ["svc network ls 1a2b --refused --jq '.[].host'", "Hosts that were refused"],
  ],
});

export const allow = spec({
  path: ["network", "allow"],
  guesses: ["add"],
  summary: "Open a change request that allows sandboxes to connect to a host",
  about: [
    "It adds the hosts to `[network] allow` in svc.toml on a new branch. Running sandboxes can connect to them within seconds after the merge.",
    "A host is a name such as api.example.com, `*.example.com` for the names below it, either with a port other than 443 and 80, or a preset such as preset:packages.",
  ],
  args: [{ name: "host", summary: "What to allow", required: true, many: true }],
  flags: {},
  fields: fieldsOf<AllowedHosts>()(["hosts", "status", "egress", "change_request"]),
  examples: [
    ["svc network allow api.example.com", "One host"],
    ["svc network allow preset:packages '*.example.com'", "Several at once"],
  ],
});

export const network: Group = {
  name: "network",
  summary: "What sandboxes may connect to",
  commands: [
    bind(ls, () => import("../commands/network/ls.ts").then((module) => module.ls)),
    bind(allow, () => import("../commands/network/allow.ts").then((module) => module.allow)),
  ],
};
