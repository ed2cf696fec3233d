import { MODEL_FORMATS } from "../../src/contract/model-upstream.ts";
import { bind, type Group, spec } from "../spec.ts";
import { UPSTREAM_FIELDS } from "./model-fields.ts";

const SERVER = {
  kind: "boolean",
  summary: "Those of the server, for all projects; only for operators of the server",
} as const;

export const ls = spec({
  path: ["models", "ls"],
  summary: "List the upstreams of the project's models: its own, and the server's",
  about: [
    "Keys are never shown, nor the URLs of the server's upstreams, except to operators with --server. Those of the server's configuration come first, and one with the same id is not used.",
  ],
  args: [],
  flags: { server: SERVER },
  fields: UPSTREAM_FIELDS,
  examples: [
    ["svc models ls", "List all"],
    ["svc models ls --server", "List those of the server"],
    ["svc models ls --jq '.[].models[]?.id'", "The names of the models"],
  ],
});

export const add = spec({
  path: ["models", "add"],
  guesses: ["set", "edit"],
  summary: "Add an upstream with the project's own key, or replace it",
  about: [
    "Prompts for the key. Without a terminal, it reads the key from standard input. The server keeps it: sandboxes call the upstream through the server.",
    "The project's own upstreams come first. A model that one of them has is not sent to the server's upstreams. Only owners and admins of the account change them.",
  ],
  args: [{ name: "id", summary: "A name for the upstream in this project", required: true }],
  flags: {
    format: {
      kind: "string",
      value: "format",
      choices: MODEL_FORMATS,
      summary: "The wire format; openai by default",
    },
    url: {
      kind: "string",
      value: "url",
      summary: "The base URL that the upstream's own clients use",
      required: true,
    },
    model: {
      kind: "string",
      value: "model",
      many: true,
      summary:
        "A model, with its prices in US dollars per million tokens if they are known: id=input/output or id=input/output/cached. Without --model, the upstream takes any name",
    },
    server: SERVER,
    "keep-key": { kind: "boolean", summary: "Keep the stored key of an upstream whose URL stays the same" },
  },
  fields: UPSTREAM_FIELDS,
  examples: [
    ["svc models add openai --url https://api.openai.com/v1 --model gpt-5=1.25/10/0.125", "One model"],
    ["svc models add claude --format anthropic --url https://api.anthropic.com < key.txt", "Any model"],
    ["svc models add local --server --url http://127.0.0.1:11434/v1", "For all projects of the server"],
  ],
});

export const rm = spec({
  path: ["models", "rm"],
  summary: "Remove one of the project's own upstreams, with its key",
  args: [{ name: "id", summary: "The upstream", required: true }],
  flags: { server: SERVER },
  fields: ["id", "removed"],
  examples: [
    ["svc models rm openai", "Remove one"],
    ["svc models rm openai --json", "With JSON output"],
  ],
});

export const models: Group = {
  name: "models",
  summary: "Choose the upstreams that run the agents' models",
  commands: [
    bind(ls, () => import("../commands/models/ls.ts").then((module) => module.ls)),
    bind(add, () => import("../commands/models/add.ts").then((module) => module.add)),
    bind(rm, () => import("../commands/models/rm.ts").then((module) => module.rm)),
  ],
};
