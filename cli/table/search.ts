import { bind, type Command, spec } from "../spec.ts";

export const searchSpec = spec({
  path: ["search"],
  guesses: ["find"],
  summary: "Find change requests and sessions of the project by part of their titles or branches",
  about: [
    "Upper and lower case are the same. Each word must be in the title or in a branch; `#3` also finds change request 3. Sessions have all the words together.",
    "Qualifiers as in `svc cr ls --search` find change requests only.",
  ],
  args: [{ name: "words", summary: "What to search for", required: true, many: true, completes: "search" }],
  flags: {
    limit: {
      kind: "integer",
      value: "n",
      short: "L",
      min: 1,
      max: 200,
      summary: "At most this many of each kind; 30 by default",
    },
  },
  fields: ["change_requests", "sessions"],
  examples: [
    ["svc search login page", "With these words in the title"],
    ["svc search is:merged author:@me login", "Only change requests"],
    ["svc search fix- --jq '.sessions[].session_id'", "Sessions by their branches"],
  ],
});

export const search: Command = bind(searchSpec, () =>
  import("../commands/search.ts").then((module) => module.search),
);
