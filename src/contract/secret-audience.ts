/** The default audience of a secret: sessions and the builds of apps. */
export const DEFAULT_AUDIENCE = ["sessions", "builds"] as const;

/**
 * An entry of an audience: sessions, sessions of one trigger, builds of apps, all apps or one app, previews of apps (their
 * builds, too), or checks that name it.
 * A secret that is for connectors only is in no sandbox.
 */
export const AUDIENCE =
  "^(?:sessions|builds|apps|previews|checks|connectors|apps:[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?|triggers:[a-z0-9][a-z0-9_-]{0,127})$";
