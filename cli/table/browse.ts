import { bind, type Command, spec } from "../spec.ts";

export const browseSpec = spec({
  path: ["browse"],
  summary: "Open the page of the project, or of a change request, in the browser",
  about: [
    "Without a terminal, and in a sandbox, it only prints the address. The dashboard has no pages for files: `svc repo cat` prints one.",
  ],
  args: [
    { name: "cr-or-branch", summary: "A change request (3 or #3), or the branch of one", completes: "cr" },
  ],
  flags: {
    "no-browser": {
      kind: "boolean",
      short: "n",
      guesses: ["print-url"],
      summary: "Only print the address",
    },
  },
  fields: ["url"],
  examples: [
    ["svc browse", "The project"],
    ["svc browse 3", "A change request"],
    ["svc browse fix-login --no-browser", "The address of that of a branch"],
  ],
});

export const browse: Command = bind(browseSpec, () =>
  import("../commands/browse.ts").then((module) => module.browse),
);
