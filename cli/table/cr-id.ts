/** The argument for a change request, in every command that takes one. */
export const CR = {
  name: "cr",
  summary: "Its number (3 or #3) or its id; defaults to that of the current branch",
  completes: "cr",
} as const;
