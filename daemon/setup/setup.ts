import { DAEMON_MARK } from "../../src/contract/conversation.ts";
import {
  type DaemonSetup,
  type DaemonSetupStatus,
  SETUP_OUTPUT,
  type SetupCheckout,
} from "../../src/contract/setup.ts";
import { maskOf } from "../app/check.ts";
import type { SetupLog } from "../log.ts";
import type { Child, Children } from "../process/children.ts";
import { runToEnd } from "../process/run-to-end.ts";
import type { Conversation } from "../prompts/conversation.ts";
import { createHome } from "../runtime/home-files.ts";
import { agentEnvironment } from "../runtime/launch.ts";
import { addNote } from "../runtime/note.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { createWorkspaceGit, type WorkspaceGit } from "../saved/workspace-git.ts";
import type { Settings } from "../settings.ts";
import { listAdded, readCheckout } from "./checkout.ts";
import { type Decision, Exchange } from "./exchange.ts";

interface SetupContext {
  settings: Settings;
  children: Children;
  log: SetupLog;
  conversation: Pick<Conversation, "open">;
  runtime(): Pick<Runtime, "call">;
}

/** What gives access to svc or its models, and the task of the session: a setup command has no use for them. */
const WITHHELD: ReadonlySet<string> = new Set([
  "SVC_CLI_TOKEN",
  "SVC_EXECUTOR_TOKEN",
  "SVC_LLM_API_KEY",
  "SVC_YOLO_API_KEY",
  "SVC_INITIAL_PROMPT",
]);

const RUNNING: DaemonSetupStatus = { state: "running", problem: null, output: [] };
const NOT_KEPT = "what the setup command added is not kept";

/**
 * The project's setup command, which installs what the agent works with. It runs once in the clone, before the agent starts,
 * with the agent's user, walls and environment, except for the keys of svc. If it fails, the agent starts and is told. svc may
 * keep what it adds, and restore that in later sandboxes instead.
 */
export class Setup {
  /** Null without a command, and before it is due. */
  status: DaemonSetupStatus | null = null;
  readonly #context: SetupContext;
  #isTold = false;
  #exchange: Exchange | null = null;

  constructor(context: SetupContext) {
    this.#context = context;
  }

  /** Where svc gives and takes what the command adds; null: it does not. */
  get exchange(): Pick<Exchange, "address" | "authorization"> | null {
    return this.#exchange;
  }

  /** Runs the command to its end, if there is one. It does not reject: a failure is in the status. */
  async run(signal: AbortSignal): Promise<void> {
    const { settings, log } = this.#context;
    if (settings.setup === null) return;
    await createHome(settings);
    if (settings.setup.isKept) this.#exchange = new Exchange(this.#context);
    const git = createWorkspaceGit(this.#context, signal);
    const checkout = this.#exchange && (await readCheckout(git).catch(() => null));
    const decision = checkout ? await this.#decide(checkout, signal) : "run";
    if (decision === "restored") this.status = { ...RUNNING, state: "restored" };
    else {
      const end = await this.#runCommand(settings.setup, signal);
      const isKept = end?.state === "ok" && decision === "run-and-keep" && checkout;
      if (isKept) await this.#keep(git, checkout, signal).catch((error) => log.info(`${NOT_KEPT}: ${error}`));
      if (!signal.aborted) this.status = end;
    }
    this.#exchange?.stop();
    this.#exchange = null;
  }

  /** Tells the agent of a failure, before its first prompt. It does not reject: it is tried again. */
  async tell(): Promise<void> {
    const { settings, conversation, runtime } = this.#context;
    if (this.#isTold || this.status?.state !== "failed" || settings.setup === null) return;
    const id = await conversation.open().catch(() => null);
    if (id === null) return;
    const { problem, output } = this.status;
    const text = `${DAEMON_MARK}The project's setup command failed: ${problem}.`;
    const details = [
      `The setup command of svc.toml, ${settings.setup.command}, failed in this workspace: ${problem}.`,
      "Dependencies may be missing. The last lines of its output:",
      ...output,
    ];
    this.#isTold = await addNote(runtime().call, id, text, details.join("\n"));
  }

  /** Waits for svc, which may restore what the command adds. */
  async #decide(checkout: SetupCheckout, signal: AbortSignal): Promise<Decision> {
    const begun = performance.now();
    this.status = { ...RUNNING, state: "waiting", checkout };
    const decision = (await this.#exchange?.decide(signal)) ?? "run";
    if (decision === "restored")
      this.#context.log.info(`restored what the setup command adds in ${secondsSince(begun)} s`);
    return decision;
  }

  /** @returns how it ended; null when the signal is aborted */
  async #runCommand(setup: DaemonSetup, signal: AbortSignal): Promise<DaemonSetupStatus | null> {
    const { log } = this.#context;
    const begun = performance.now();
    this.status = RUNNING;
    const output: string[] = [];
    const problem = await this.#run(setup, output, signal).catch((error: unknown) => {
      log.info(`the setup command could not be started: ${error}`);
      return "it could not be started";
    });
    if (signal.aborted) return null;
    log.info(
      problem === null ? `set up in ${secondsSince(begun)} s` : `the setup command failed: ${problem}`,
    );
    return problem === null ? { ...RUNNING, state: "ok" } : { state: "failed", problem, output };
  }

  /** Lets svc keep what the command has added. Nothing of the agent runs yet. */
  async #keep(git: WorkspaceGit, checkout: SetupCheckout, signal: AbortSignal): Promise<void> {
    const { settings, log } = this.#context;
    const begun = performance.now();
    const added = await listAdded(git, settings, checkout);
    if (added === null) return log.info(`${NOT_KEPT}: it has also changed files of the repository`);
    this.status = { ...RUNNING, state: "keeping" };
    const isTaken = await this.#exchange?.offer(added, signal);
    log.info(isTaken ? `svc keeps what the setup command added, read in ${secondsSince(begun)} s` : NOT_KEPT);
  }

  /** @param output gets the last lines @returns why it failed; null: it did not */
  async #run(
    { command, timeoutMs }: DaemonSetup,
    output: string[],
    signal: AbortSignal,
  ): Promise<string | null> {
    const { settings, log } = this.#context;
    const mask = maskOf(Object.values(settings.secrets.env));
    const ended = await runToEnd(
      this.#context,
      {
        command,
        environment: setupEnvironment(settings),
        directory: settings.workspace,
        limitMs: timeoutMs,
        log(line) {
          const text = mask(Bun.stripANSI(line));
          log.setup(text);
          output.push(text.slice(0, SETUP_OUTPUT.characters));
          if (output.length > SETUP_OUTPUT.lines) output.shift();
        },
        name: "the setup command",
      },
      signal,
    );
    return problemOf(ended, timeoutMs);
  }
}

function secondsSince(begun: number): string {
  return ((performance.now() - begun) / 1000).toFixed(1);
}

function setupEnvironment(settings: Settings): Record<string, string> {
  const all = Object.entries(agentEnvironment(settings, settings.secrets));
  return Object.fromEntries(all.filter(([name]) => !WITHHELD.has(name)));
}

function problemOf(
  ended: { exitCode: number | null; signalCode: Child["signalCode"]; isLate: boolean },
  timeoutMs: number,
): string | null {
  const { exitCode, signalCode, isLate } = ended;
  if (isLate) return `no end after ${Number((timeoutMs / 60_000).toFixed(2))} minutes`;
  if (signalCode !== null) return `signal ${signalCode}`;
  return exitCode === 0 ? null : `exit ${exitCode}`;
}
