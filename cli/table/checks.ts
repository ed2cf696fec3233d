import { type CommitStatus, STATUS_STATES } from "../../src/contract/commit-status.ts";
import { bind, type Group, spec } from "../spec.ts";
import { fieldsOf } from "./fields.ts";

export const STATUS_FIELDS = fieldsOf<CommitStatus>()([
  "id",
  "sha",
  "state",
  "context",
  "description",
  "target_url",
  "check_run_id",
  "from_host",
  "creator",
  "created_at",
  "updated_at",
]);

export const report = spec({
  path: ["checks", "report"],
  guesses: ["set", "create", "add"],
  summary: "Report the result of a check of a commit, such as a test run of CI",
  about: [
    "A later report of the same check and commit replaces the earlier one. The commit must be on a branch of the project's repository.",
    "The token of an agent cannot report checks. For CI, use a project token.",
  ],
  args: [
    { name: "name", summary: "The check, such as `test`", required: true },
    {
      name: "state",
      summary: `Its result: ${STATUS_STATES.join(", ")}`,
      required: true,
      choices: STATUS_STATES,
    },
  ],
  flags: {
    sha: {
      kind: "string",
      value: "sha",
      guesses: ["commit"],
      summary: "The full commit id; without it, the commit that is checked out",
    },
    description: { kind: "string", value: "text", summary: "A short description of the result" },
    url: { kind: "string", value: "url", summary: "A link to the details" },
  },
  fields: STATUS_FIELDS,
  examples: [
    ["svc checks report test pending", "A test run of this commit has begun"],
    [
      'svc checks report test failure --description "2 of 80 failed" --url https://ci.example.com/7',
      "It failed",
    ],
  ],
});

export const ls = spec({
  path: ["checks", "ls"],
  summary: "List the checks of a commit",
  args: [{ name: "commit", summary: "The full commit id; without it, the commit that is checked out" }],
  flags: {},
  fields: STATUS_FIELDS,
  examples: [
    ["svc checks ls", "Of the commit that is checked out"],
    ["svc checks ls --jq '.[] | select(.state == \"failure\") | .context'", "Those that failed"],
  ],
});

export const checks: Group = {
  name: "checks",
  summary: "Results of CI for commits, which a merge can require",
  commands: [
    bind(ls, () => import("../commands/checks/ls.ts").then((module) => module.ls)),
    bind(report, () => import("../commands/checks/report.ts").then((module) => module.report)),
  ],
};
