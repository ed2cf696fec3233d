/** Where a secret is injected that is set without saying so: into sessions and the builds of apps. */
export const DEFAULT_AUDIENCE = ["sessions", "builds"] as const;

/** Where a secret can be injected: into sessions, those that one trigger starts, builds of apps, all apps or one. */
export const AUDIENCE =
  "^(?:sessions|builds|apps|apps:[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?|triggers:[a-z0-9][a-z0-9_-]{0,127})$";
