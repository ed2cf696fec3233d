/** The flags of commands that take a description. */
export const DESCRIPTION = {
  description: {
    kind: "string",
    value: "text",
    short: "b",
    summary: "The description",
    aliases: ["body"],
    empty: true,
  },
  "description-file": {
    kind: "string",
    value: "path",
    short: "F",
    summary: "Read the description from a file; `-` is standard input",
    aliases: ["body-file"],
    completes: "file",
  },
} as const;
