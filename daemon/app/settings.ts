import type { DaemonApp } from "../../src/contract/daemon.ts";
import { field, parseJson } from "../../src/contract/json.ts";

/** What a deployment's daemon is told by `SVC_APP`; null when it is not what svc writes there. */
export function readApp(text: string): DaemonApp | null {
  const value = parseJson(text);
  const [slug, commit, rootPath] = ["slug", "commit", "rootPath"].map((name) => field(value, name));
  const [build, output] = ["build", "output"].map((name) => field(value, name) ?? null);
  const [env, buildSecrets] = [stringsOf(field(value, "env")), stringsOf(field(value, "buildSecrets"))];
  if (typeof slug !== "string" || typeof commit !== "string" || !OBJECT_ID.test(commit)) return null;
  if (!isPath(rootPath) || !(output === null || isPath(output))) return null;
  if (!(build === null || typeof build === "string") || !env || !buildSecrets) return null;
  return { slug, commit, rootPath, build, run: readRun(value), output, env, buildSecrets };
}

/** The strings of a table; null when there is no table. */
function stringsOf(value: unknown): Record<string, string> | null {
  if (typeof value !== "object" || value === null) return null;
  const pairs = Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return Object.fromEntries(pairs);
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Relative, and never upwards. */
function isPath(value: unknown): value is string {
  return typeof value === "string" && !value.startsWith("/") && !value.split("/").includes("..");
}

function readRun(value: unknown): DaemonApp["run"] {
  const run = field(value, "run");
  const [command, port] = ["command", "port"].map((name) => field(run, name));
  return typeof command === "string" && typeof port === "number" ? { command, port } : null;
}
