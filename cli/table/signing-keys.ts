import type { SigningKey } from "../../src/contract/signing-key.ts";
import { bind, type Group, spec } from "../spec.ts";
import { fieldsOf } from "./fields.ts";

const KEY_FIELDS = fieldsOf<SigningKey>()(["id", "key", "fingerprint", "title", "created_at"]);

export const ls = spec({
  path: ["signing-keys", "ls"],
  summary: "List your signing keys",
  args: [],
  flags: {},
  fields: KEY_FIELDS,
  examples: [
    ["svc signing-keys ls", "List all"],
    ["svc signing-keys ls --jq '.[].fingerprint'", "Only the fingerprints"],
  ],
});

export const add = spec({
  path: ["signing-keys", "add"],
  aliases: ["new"],
  summary: "Add an SSH public key that verifies your commits",
  about: [
    "svc marks a commit as verified if it is signed with one of your keys and its committer has your verified e-mail address. To sign with a key: `git config gpg.format ssh`, `git config user.signingKey ~/.ssh/id_ed25519.pub` and `git commit -S`.",
  ],
  args: [
    {
      name: "file",
      summary: "The file of the public key; `-` reads it from standard input",
      required: true,
      completes: "file",
    },
  ],
  flags: {
    title: { kind: "string", value: "text", short: "t", summary: "A name; default: the key's comment" },
  },
  fields: KEY_FIELDS,
  examples: [
    ["svc signing-keys add ~/.ssh/id_ed25519.pub", "Add a key"],
    ["ssh-add -L | head -1 | svc signing-keys add - --title laptop", "The first key of the SSH agent"],
  ],
});

export const rm = spec({
  path: ["signing-keys", "rm"],
  summary: "Remove one of your signing keys",
  about: ["Commits that are signed with it are no longer verified."],
  args: [{ name: "id", summary: "Its id, which `svc signing-keys ls` prints", required: true }],
  flags: {},
  fields: ["id", "removed"],
  examples: [
    ["svc signing-keys rm 3", "Remove it"],
    ["svc signing-keys rm 3 --json", "With JSON output"],
  ],
});

export const signingKeys: Group = {
  name: "signing-keys",
  summary: "SSH keys that verify your commits",
  commands: [
    bind(ls, () => import("../commands/signing-keys/ls.ts").then((module) => module.ls)),
    bind(add, () => import("../commands/signing-keys/add.ts").then((module) => module.add)),
    bind(rm, () => import("../commands/signing-keys/rm.ts").then((module) => module.rm)),
  ],
};
