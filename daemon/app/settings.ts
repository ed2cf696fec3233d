import type { DaemonApp } from "../../src/contract/daemon.ts";
import { field, parseJson } from "../../src/contract/json.ts";

/** Parses `SVC_APP`, svc's description of a deployment; null if it is invalid. */
export function readApp(text: string): DaemonApp | null {
  const value = parseJson(text);
  const [slug, commit, rootPath] = ["slug", "commit", "rootPath"].map((name) => field(value, name));
  const [build, output] = ["build", "output"].map((name) => field(value, name) ?? null);
  const [env, buildSecrets] = [stringsOf(field(value, "env")), stringsOf(field(value, "buildSecrets"))];
  if (typeof slug !== "string" || typeof commit !== "string" || !OBJECT_ID.test(commit)) return null;
  if (!isPath(rootPath) || !(output === null || isPath(output))) return null;
  if (!(build === null || typeof build === "string") || !env || !buildSecrets) return null;
  const check = readCheck(value);
  if (check === null) return null;
  const healthPath = field(value, "healthPath");
  const app = {
    slug,
    commit,
    rootPath,
    build,
    run: readRun(value),
    healthPath: typeof healthPath === "string" && healthPath.startsWith("/") ? healthPath : null,
    output,
    env,
    buildSecrets,
  };
  return check === undefined ? app : { ...app, check };
}

/** Undefined: none; null: an invalid one. */
function readCheck(value: unknown): DaemonApp["check"] | null {
  const check = field(value, "check");
  if (check === undefined) return undefined;
  const [name, command, timeoutMs] = ["name", "command", "timeoutMs"].map((key) => field(check, key));
  if (typeof name !== "string" || typeof command !== "string" || typeof timeoutMs !== "number") return null;
  return timeoutMs > 0 ? { name, command, timeoutMs } : null;
}

/** The string values of an object; null if the value is not an object. */
function stringsOf(value: unknown): Record<string, string> | null {
  if (typeof value !== "object" || value === null) return null;
  const pairs = Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return Object.fromEntries(pairs);
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** A relative path without `..`. */
function isPath(value: unknown): value is string {
  return typeof value === "string" && !value.startsWith("/") && !value.split("/").includes("..");
}

function readRun(value: unknown): DaemonApp["run"] {
  const run = field(value, "run");
  const [command, port] = ["command", "port"].map((name) => field(run, name));
  return typeof command === "string" && typeof port === "number" ? { command, port } : null;
}
