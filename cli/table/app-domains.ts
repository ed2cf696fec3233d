import { bind, spec } from "../spec.ts";
import { DOMAIN_FIELDS } from "./fields.ts";

const SLUG = { name: "slug", summary: "The app's slug in svc.toml", required: true } as const;
const DOMAIN = { name: "domain", summary: "A domain name, such as www.example.com", required: true } as const;

export const ls = spec({
  path: ["apps", "domains", "ls"],
  summary: "List the domains of an app",
  args: [SLUG],
  flags: {},
  fields: DOMAIN_FIELDS,
  examples: [
    ["svc apps domains ls site", "All of them, with their state"],
    ["svc apps domains ls site --jq '.[].url'", "Only the addresses"],
  ],
});

export const add = spec({
  path: ["apps", "domains", "add"],
  summary: "Serve a public app at a domain of your own",
  about: [
    "Prints the TXT record that proves that the domain is yours, and where the domain has to point. svc looks for the record now and then, and `svc apps domains verify` does at once.",
    'Only owners and admins of the account manage domains. The app must have `access = "public"`.',
  ],
  args: [SLUG, DOMAIN],
  flags: {},
  fields: DOMAIN_FIELDS,
  examples: [
    ["svc apps domains add site www.example.com", "Add one, and print its record"],
    ["svc apps domains add site www.example.com --jq .record.value", "Only the value of the record"],
  ],
});

export const verify = spec({
  path: ["apps", "domains", "verify"],
  guesses: ["check"],
  summary: "Look for the TXT record of a domain now",
  about: ["Exit status 0 means that the domain is proven, and 1 that its record was not found."],
  args: [SLUG, DOMAIN],
  flags: {},
  fields: DOMAIN_FIELDS,
  examples: [
    ["svc apps domains verify site www.example.com", "Once the record is in DNS"],
    ["svc apps domains verify site www.example.com --jq .state", "Only the state"],
  ],
});

export const rm = spec({
  path: ["apps", "domains", "rm"],
  summary: "Remove a domain from an app",
  args: [SLUG, DOMAIN],
  flags: {},
  fields: ["domain", "removed"],
  examples: [
    ["svc apps domains rm site www.example.com", "Remove one"],
    ["svc apps domains rm site www.example.com --json", "With JSON output"],
  ],
});

/** The commands below `svc apps domains`. */
export const DOMAIN_COMMANDS = [
  bind(ls, () => import("../commands/apps/domains-ls.ts").then((module) => module.ls)),
  bind(add, () => import("../commands/apps/domains-add.ts").then((module) => module.add)),
  bind(verify, () => import("../commands/apps/domains-verify.ts").then((module) => module.verify)),
  bind(rm, () => import("../commands/apps/domains-rm.ts").then((module) => module.rm)),
];
