/** The argument for a session, in every command that takes one. */
export const ID = {
  name: "id",
  summary: "Its id, or the first digits of it (four or more)",
  required: "ask",
  completes: "session",
} as const;

/** The same, for commands that an agent runs in its own sandbox. */
export const OWN_ID = {
  name: "id",
  summary: `${ID.summary}; in a sandbox, defaults to its own session ($SVC_SESSION_ID)`,
  completes: "session",
} as const;
