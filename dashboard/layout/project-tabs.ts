/** The tabs of a project: path and label. */
export const TABS = [
  ["change-requests", "Change requests"],
  ["sessions", "Sessions"],
  ["apps", "Apps"],
  ["triggers", "Triggers"],
  ["secrets", "Secrets"],
  ["settings", "Settings"],
] as const;
