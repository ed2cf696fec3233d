/** The flag of commands that have a page in the dashboard. */
export const WEB = {
  web: {
    kind: "boolean",
    short: "w",
    summary: "Open the page in the browser; elsewhere than on a terminal, only print its address",
  },
} as const;
