/** The argument for a change request, in every command that takes one. */
export const CR = {
  name: "cr",
  summary: "Its number (3 or #3) or its id",
  required: "ask",
  completes: "cr",
} as const;
