import { CliError } from "../../failure.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/self-host.ts";
import { ago, type Column, sheet, table as tableOf } from "../../table-print.ts";
import { hashOf, requireEnv } from "./env-file.ts";
import { askVersion, isRunning, localUrl, look, type ServiceStatus } from "./look.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { stackOf } from "./stack.ts";
import { requireState } from "./state.ts";

export const status: Handler<typeof table.status> = async (context) => {
  notInSandbox(context);
  const { system, out } = context;
  const stack = stackOf(system);
  const state = await requireState(stack);
  const env = await requireEnv(stack);
  const services = await look(system, stack, state);
  const version = isRunning(services) ? await askVersion(system, env) : null;
  const answer = {
    url: env.get("SVC_PUBLIC_URL") || localUrl(env),
    mode: state.mode,
    service: state.service,
    version,
    healthy: version !== null,
    services,
    started_at: isRunning(services) ? state.started_at : null,
    settings_changed: isRunning(services) && state.settings !== hashOf(env),
    folder: stack.dir,
  };
  await out.result(answer, (view) => render(answer, view));
  if (answer.settings_changed) {
    await out.note("Settings have changed since the start. To apply them: svc self-host stop, then start.");
  }
  if (version !== null) return;
  throw new CliError(
    "self_host",
    isRunning(services) ? "The server does not answer." : "The server is stopped.",
    {
      hint: isRunning(services) ? "svc self-host logs" : "svc self-host start",
    },
  );
};

type Answer = {
  url: string;
  mode: string;
  version: string | null;
  folder: string;
  services: ServiceStatus[];
};

function render({ url, mode, version, folder, services }: Answer, view: View): string {
  const head: [string, string][] = [
    ["url", url],
    ["server", version === null ? "does not answer" : `svc ${version}`],
    ["mode", mode],
    ["folder", folder],
  ];
  return `${sheet(head, view)}${view.tty ? "\n" : ""}${tableOf(services, COLUMNS, view)}`;
}

const COLUMNS: Column<ServiceStatus>[] = [
  { title: "SERVICE", value: ({ name }) => name },
  {
    title: "STATE",
    value: ({ state }) => state,
    paint: ({ state }, { paint }) => (state === "running" ? paint.green : paint.yellow),
  },
  {
    title: "SINCE",
    value: ({ since }) => since ?? "",
    shown: ({ since }, { now }) => (since === null ? "" : ago(since, now)),
  },
  { title: "RESTARTS", value: ({ restarts }) => `${restarts}` },
];
