import { type Api, makeApi } from "./api.ts";
import { configPath, isExposed } from "./config.ts";
import { usage } from "./failure.ts";
import type { GLOBAL } from "./flags.ts";
import type { Output } from "./output.ts";
import { checkProjectName, type ProjectRef, resolveProject } from "./project.ts";
import { canAsk, inSandbox } from "./sandbox.ts";
import type { FlagsOf } from "./spec.ts";
import type { System } from "./system.ts";
import { resolveTarget, type Target } from "./target.ts";
import { oneLine } from "./text.ts";

export type Globals = FlagsOf<typeof GLOBAL>;

/** The dependencies of a handler. Each is created when it is first used, so that a cheap command does no extra work. */
export interface Context {
  readonly system: System;
  readonly globals: Globals;
  readonly out: Output;
  readonly sandbox: boolean;
  /** Whether the command may prompt: there is a terminal with a user. */
  canAsk(): boolean;
  target(): Promise<Target>;
  /** The client of the current host; on a terminal it prints the host's name. */
  api(): Promise<Api>;
  /** A client for another target. */
  apiFor(target: Target): Api;
  /** The current project; `argument` has precedence. */
  project(argument?: string): Promise<ProjectRef>;
}

interface Options {
  system: System;
  globals: Globals;
  out: Output;
}

export function makeContext({ system, globals, out }: Options): Context {
  const sandbox = inSandbox(system.env);
  let target: Promise<Target> | undefined;
  let api: Promise<Api> | undefined;
  const context: Context = {
    system,
    globals,
    out,
    sandbox,
    canAsk: () => canAsk(system, globals["no-input"], out.data.json),
    target() {
      target ??= resolveTarget(system, { host: globals.host, useLink: true });
      return target;
    },
    api() {
      api ??= context.target().then(async (found) => {
        await announce(context, found);
        return context.apiFor(found);
      });
      return api;
    },
    apiFor: (found) => makeApi(system, found, globals.timeout),
    async project(argument) {
      if (argument === undefined) return currentProject(await context.target());
      if (globals.project !== undefined && globals.project !== argument) {
        throw usage("The project is given twice: as an argument and with --project.");
      }
      return { id: checkProjectName(argument, "The project"), source: "argument" };
    },
  };
  return context;

  async function currentProject(current: Target): Promise<ProjectRef> {
    return resolveProject(system, globals.project, current, async () => {
      const { resolveByRemote } = await import("./resolve-by-remote.ts");
      const mayChangeHost = api === undefined && current.source === "active";
      const found = await resolveByRemote({ system, target: current, mayChangeHost, api: context.api });
      if (found.target) target = Promise.resolve(found.target);
      if (announces(context)) await out.note(`Project: the one of the remote ${oneLine(found.remote)}`);
      return found.project;
    });
  }
}

/** Spec 4.5: the active host is printed before operational commands, on stderr, on a terminal only. */
async function announce(context: Context, target: Target): Promise<void> {
  const { system, out } = context;
  if (target.tokenSource === "config" && (await isExposed(configPath(system)))) {
    await out.warn(`Other users can read your tokens. Run: chmod 600 ${configPath(system)}`);
  }
  if (announces(context)) await out.note(`Host: ${target.name} (${target.url})`);
}

const announces = ({ system, out, sandbox }: Context): boolean =>
  !sandbox && !out.quiet && !out.data.json && system.stderr.isTTY;
