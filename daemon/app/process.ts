import { setTimeout as pause } from "node:timers/promises";
import type { RuntimeState } from "../../src/contract/daemon.ts";
import { asAgent, signalGroup } from "../process/children.ts";
import { eachLine } from "../process/lines.ts";
import { endDescendants } from "../process/tree.ts";
import { isAnswering } from "./answers.ts";
import { type AppContext, AppError, appEnvironment, portOf, rootOf } from "./context.ts";

/** The app's run command: one process, started again whenever it ends. */
export interface AppProcess {
  readonly state: RuntimeState;
  readonly pid: number | null;
  /** What is wrong with it at the moment: a sentence for a person. */
  readonly problem: string | null;
  /** Keeps it running until it is stopped. @throws AppError when it has never answered, and is not expected to */
  keepRunning(): Promise<void>;
  /** Asks it to end, then ends it, with all that it started. */
  stop(): Promise<void>;
}

export interface AppLimits {
  /** From its first start until it answers, whatever happens to it in between. */
  startMs: number;
  /** How often it may end before it has answered once: a database that is slow to come is waited for by nobody else. */
  earlyEnds: number;
  firstPauseMs: number;
  longestPauseMs: number;
  /** One that ran as long as this was no part of a crash loop. */
  soundMs: number;
  /** Between two looks whether it answers yet. */
  lookMs: number;
  /** Between two looks whether it still answers. */
  watchMs: number;
  /** Looks in a row without any answer, after which it counts as hung. */
  silences: number;
  /** For an answer to each look: a page may take its time. */
  askMs: number;
  /** For requests under way to end after SIGTERM. */
  termMs: number;
}

const LIMITS: AppLimits = {
  startMs: 120_000,
  earlyEnds: 3,
  firstPauseMs: 500,
  longestPauseMs: 30_000,
  soundMs: 60_000,
  lookMs: 100,
  watchMs: 15_000,
  silences: 3,
  askMs: 5_000,
  termMs: 10_000,
};

export function superviseApp(context: AppContext, changed: Partial<AppLimits> = {}): AppProcess {
  const { settings, app, children, log } = context;
  const limits = { ...LIMITS, ...changed };
  const port = portOf(context);
  const stopping = new AbortController();
  let state: RuntimeState = "starting";
  let problem: string | null = null;
  let child: ReturnType<typeof children.start> | null = null;
  let loop: Promise<void> | null = null;
  let hasAnswered = false;

  return {
    get state() {
      return state;
    },
    get pid() {
      return child?.pid ?? null;
    },
    get problem() {
      return problem;
    },
    keepRunning() {
      loop ??= run();
      return loop;
    },
    async stop() {
      stopping.abort();
      if (child) await end(child);
      await loop?.catch(() => {});
      state = "down";
    },
  };

  async function run(): Promise<void> {
    const deadline = performance.now() + limits.startMs;
    let wait = limits.firstPauseMs;
    for (let ends = 1; !stopping.signal.aborted; ends++) {
      const begun = performance.now();
      const how = await live(deadline);
      if (stopping.signal.aborted) break;
      state = "down";
      problem = `The app ${how}.`;
      log.say(problem);
      if (!hasAnswered && (ends >= limits.earlyEnds || performance.now() > deadline)) {
        state = "failed";
        throw new AppError("app", problem);
      }
      if (performance.now() - begun > limits.soundMs) wait = limits.firstPauseMs;
      log.say(`it is started again in ${wait / 1000} s`);
      await sleep(wait, stopping.signal);
      wait = Math.min(wait * 2, limits.longestPauseMs);
    }
  }

  /** One process, from its start to its end. @returns how it ended, in the words that end "The app …" */
  async function live(deadline: number): Promise<string> {
    state = "starting";
    const started = children.start({
      ...asAgent(settings, ["sh", "-c", app.run?.command ?? ""]),
      environment: appEnvironment(context, "app"),
      directory: rootOf(context),
      isRuntime: true,
    });
    child = started;
    eachLine(started.stdout, log.app);
    eachLine(started.stderr, log.app);
    const gone = started.exited.then(() => {
      const { signalCode, exitCode } = started;
      return signalCode ? `was ended by ${signalCode}` : `ended with exit status ${exitCode}`;
    });
    const over = new AbortController();
    const isOver = AbortSignal.any([over.signal, stopping.signal]);
    void gone.then(() => over.abort());
    let fault = await untilItAnswers(deadline, isOver);
    if (fault === null && !isOver.aborted) {
      hasAnswered = true;
      state = "ok";
      problem = null;
      log.say("the app answers");
      fault = await untilItHangs(isOver);
      if (fault !== null) state = "down";
    }
    if (fault !== null) await end(started);
    const how = await gone;
    await endDescendants(process.pid, children.helpers);
    child = null;
    return fault ?? how;
  }

  /** @returns null when it answers or is over; else what it did instead, when its time is over */
  async function untilItAnswers(deadline: number, isOver: AbortSignal): Promise<string | null> {
    for (;;) {
      if (isOver.aborted) return null;
      const answering = await isAnswering(port, limits.askMs);
      if (isOver.aborted || answering.ok) return null;
      problem = `The app ${answering.why}.`;
      // one that has answered before is given the time that it needs
      if (!hasAnswered && performance.now() > deadline)
        return `${answering.why}, ${Math.round(limits.startMs / 1000)} seconds after its start: it has to listen on $PORT`;
      await sleep(limits.lookMs, isOver);
    }
  }

  /** An answer of any status will do: what serves errors would serve them after a new start, too. @returns as above */
  async function untilItHangs(isOver: AbortSignal): Promise<string | null> {
    let silences = 0;
    for (;;) {
      await sleep(limits.watchMs, isOver);
      if (isOver.aborted) return null;
      const answering = await isAnswering(port, limits.askMs);
      if (isOver.aborted) return null;
      if (answering.ok || !answering.isSilent) silences = 0;
      else if (++silences >= limits.silences) return `${answering.why} any more: it hangs`;
    }
  }

  async function end(target: NonNullable<typeof child>): Promise<void> {
    signalGroup(target.pid, "SIGTERM");
    const timer = setTimeout(() => signalGroup(target.pid, "SIGKILL"), limits.termMs);
    await target.exited;
    clearTimeout(timer);
    // what stayed in its group
    signalGroup(target.pid, "SIGKILL");
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {});
}
