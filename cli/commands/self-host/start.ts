import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import type { Handler, Input } from "../../spec.ts";
import type * as table from "../../table/self-host.ts";
import { count } from "../../text.ts";
import { settleDatabasePort } from "./database-port.ts";
import { hashOf, writeEnv } from "./env-file.ts";
import { askVersion, isRunning, localUrl, look, type ServiceStatus } from "./look.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { judge, type Probes, summaryOf } from "./preflight.ts";
import { prepare } from "./prepare.ts";
import { probe } from "./probe.ts";
import { providePrograms } from "./provide-programs.ts";
import { HOST, register } from "./register.ts";
import { prepareRuntime } from "./runtime.ts";
import { chooseService, startService } from "./service.ts";
import { previousOf, type Stack, stackOf } from "./stack.ts";
import { startContainers } from "./start-containers.ts";
import { type State, writeState } from "./state.ts";
import { stopStack } from "./stop-stack.ts";
import { waitHealthy } from "./wait-healthy.ts";

type Flags = Input<typeof table.start>["flags"];

export const start: Handler<typeof table.start> = async (context, { flags }) => {
  notInSandbox(context);
  const { system, out } = context;
  const stack = stackOf(system);
  const wishes = { native: flags.native, listen: flags.listen, publicUrl: flags["public-url"] };
  const { state, env, before } = await prepare(system, stack, wishes);
  // the preflight explains an engine that does not answer
  const services = await look(system, stack, state).catch(() => []);
  const isWhole = isRunning(services) && services.every((service) => service.state !== "stopped");
  const alreadyRunning = isWhole && (await askVersion(system, env)) !== null;
  if (alreadyRunning) await out.note(`The server runs already: ${localUrl(env)}`);
  const started = alreadyRunning
    ? state
    : await startServer(context, stack, state, env, flags).catch(async (error: unknown) => {
        // the next start must not fail because of these flags
        if (before !== null) await writeEnv(stack, before);
        throw error;
      });
  const runtimeInstalled = await prepareRuntime(context, stack, started, env, flags["install-runtime"]);
  const registered = await register(context, stack, started, env, flags.email);
  const url = env.get("SVC_PUBLIC_URL") || localUrl(env);
  const settingsChanged = started.settings !== hashOf(env);
  const answer = {
    url,
    mode: started.mode,
    version: await askVersion(system, env),
    email: registered.email,
    sign_in_url: registered.signInUrl,
    host: registered.isTaken ? null : HOST,
    already_running: alreadyRunning,
    settings_changed: settingsChanged,
    runtime_installed: runtimeInstalled,
  };
  await out.result(answer, () => welcome(answer));
  if (settingsChanged) {
    await out.warn(
      "Its settings have changed since it was started. To apply them: svc self-host stop, then start.",
    );
  }
  if (registered.isTaken) {
    await out.warn(
      `The host ${HOST} is registered with another address and was left as it is: svc hosts info ${HOST}`,
    );
  }
  if (!runtimeInstalled) {
    await out.note(
      "Sessions need the agent runtime, which is not installed: svc self-host start --install-runtime",
    );
  }
  await out.note("Next: svc projects new --repo <url> --link, in a clone of your repository");
};

/**
 * Starts the services and waits until the server answers.
 * @throws CliError `self_host` if the machine lacks something, or if a service does not start
 */
export async function startServer(
  context: Context,
  stack: Stack,
  state: State,
  env: Map<string, string>,
  flags: Pick<Flags, "api-binary" | "no-service">,
): Promise<State> {
  const { system, out } = context;
  // what is left of a server that does not answer must not hold its ports
  await stopLeftovers(context, stack, state);
  const probes = await requireFit(context, await probe(system, stack, state.mode, env));
  // the engine answers, so that no service of this server has the port
  if (state.mode === "compose") await settleDatabasePort(stack, env);
  await recoverPrograms(stack);
  const version = await providePrograms(context, stack, flags["api-binary"], state.mode);
  const service =
    state.mode === "compose" ? "compose" : flags["no-service"] ? "process" : await chooseService(system);
  const started: State = {
    ...state,
    service,
    version,
    started_at: new Date(system.now()).toISOString(),
    settings: hashOf(env),
  };
  const interrupted = onInterrupt();
  try {
    if (service === "compose") {
      await startContainers(system, stack, env, probes.engine, (text) => out.note(text));
      await writeState(stack, started);
    } else {
      // before it starts, so that `stop` knows it
      await writeState(stack, started);
      await startService(system, stack, service);
    }
    await waitHealthy(system, stack, started, env, (services) => out.note(progress(services)));
  } catch (error) {
    // a service that fails would be restarted for ever
    await stopStack(system, stack, started, { keepLogs: true }).catch(() => {});
    throw error;
  } finally {
    interrupted.done();
  }
  return started;
}

async function stopLeftovers({ system }: Context, stack: Stack, state: State): Promise<void> {
  // a start or restore that was killed has not recorded what it started
  const isKnown = state.service !== null;
  if (!isKnown && !isRunning(await look(system, stack, state).catch(() => []))) return;
  await stopStack(system, stack, state).catch((error: unknown) => {
    // the preflight explains an engine that does not answer
    if (state.mode === "native") throw error;
  });
}

/** An update that was killed between its two renames has left the old programs under their other name. */
async function recoverPrograms(stack: Stack): Promise<void> {
  const previous = previousOf(stack);
  if (!existsSync(stack.bin) && existsSync(previous)) await rename(previous, stack.bin);
}

/** @throws CliError `self_host` with every error that was found */
async function requireFit({ out }: Context, probes: Probes): Promise<Probes> {
  const findings = judge(probes);
  for (const { level, message, hint } of findings) {
    if (level === "warning") await out.warn(`${message} ${hint}`);
  }
  const errors = findings.filter(({ level }) => level === "error");
  if (errors.length === 0) return probes;
  const { message, hint } = summaryOf(errors);
  throw new CliError("self_host", message, { hint });
}

/** On Ctrl-C the server goes on starting; the person is told how to see and stop it. */
function onInterrupt(): { done(): void } {
  const tell = () => {
    process.stderr.write(
      "\nThe server is still starting. See: svc self-host status. To stop it: svc self-host stop\n",
    );
    process.off("SIGINT", tell);
    process.kill(process.pid, "SIGINT");
  };
  process.on("SIGINT", tell);
  return { done: () => process.off("SIGINT", tell) };
}

const progress = (services: readonly ServiceStatus[]): string =>
  `Waiting for ${count(services.length, "service")}: ${services.map(({ name, state }) => `${name} ${state}`).join(", ")}`;

function welcome({
  url,
  email,
  sign_in_url,
}: {
  url: string;
  email: string;
  sign_in_url: string | null;
}): string {
  const link =
    sign_in_url === null
      ? ""
      : `\nTo sign in in a browser, choose a password for ${email} (the link works once, for a day):\n\n  ${sign_in_url}\n\n`;
  return `svc runs at ${url}\nThe svc command is signed in as ${email} (host ${HOST}).\n${link}`;
}
