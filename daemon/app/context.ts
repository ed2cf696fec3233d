import { join } from "node:path";
import type { DaemonApp } from "../../src/contract/daemon.ts";
import type { AppLog } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Settings } from "../settings.ts";

/** The dependencies that the parts of a daemon for an app or a check share. */
export interface AppContext {
  settings: Settings;
  app: DaemonApp;
  children: Children;
  log: AppLog;
}

/** The app cannot be built or does not run. The message is a sentence for a person. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly kind: "build" | "app";

  constructor(kind: AppError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The folder in which the app is built and runs. */
export function rootOf({ settings, app }: Pick<AppContext, "settings" | "app">): string {
  return join(settings.workspace, app.rootPath);
}

/**
 * The port on which the app must listen. Where sandboxes share the host's network it is a free port, since the previous
 * deployment still listens on the app's own.
 */
export function portOf({ settings, app }: Pick<AppContext, "settings" | "app">): number {
  return settings.appPort ?? app.run?.port ?? 0;
}

/**
 * The environment of the app's programs, or of a check: their secrets, the variables of the app's manifest entry, and the
 * address to listen on. Of svc's variables it has only those that describe the deployment: none grants access to svc.
 */
export function appEnvironment(
  context: Pick<AppContext, "settings" | "app">,
  program: "build" | "app" | "check",
): Record<string, string> {
  const { settings, app } = context;
  const inherited = Object.entries(settings.inherited).filter(
    ([name]) => !name.startsWith("SVC_") || name === PROCESS_MARK || name === VOLUME,
  );
  return {
    ...Object.fromEntries(inherited),
    ...(program === "build" ? app.buildSecrets : settings.secrets.env),
    ...app.env,
    PATH: settings.inherited["PATH"] ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: settings.home,
    PWD: rootOf(context),
    ...(app.check
      ? { CI: "true", SVC_CHECK_NAME: app.check.name, SVC_CHECK_COMMIT: app.commit }
      : { SVC_APP_SLUG: app.slug, SVC_APP_COMMIT: app.commit }),
    ...(app.run && { PORT: String(portOf(context)), HOST: "127.0.0.1" }),
  };
}

/** Where the app's volume is, if it has one. */
export const VOLUME = "SVC_VOLUME";
/** Identifies the processes of a sandbox that has no isolation. */
const PROCESS_MARK = "SVC_SANDBOX";
