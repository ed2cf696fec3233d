import { parseJson } from "../../../contract/json.ts";
import { readEvents } from "../../../contract/sse.ts";
import type { RuntimeActivity } from "../../../conversation/runtime-activity.ts";
import type { RuntimeTurns } from "../../../conversation/runtime-turns.ts";
import type { Deps } from "../../../deps.ts";
import { isWithinReach } from "../../../jobs/places.ts";
import { type Daemon, streamRuntimeEvents } from "../../../sandboxes/daemon.ts";
import { answerAsk } from "../agent.ts";
import { takeGranted } from "../kept/grant.ts";
import { reachSession, type SessionRow } from "../row.ts";
import { openSessionSecrets } from "../secrets.ts";
import { cleanTitle, firstWords, storeTitle } from "../title.ts";
import { readActivity, stateOf, storeActivity } from "./activity.ts";
import { isGrowthDue } from "./growth.ts";
import { createLiveState } from "./live-state.ts";
import { keptOf } from "./part-row.ts";
import { createRedact, type Redact } from "./redact.ts";
import { readRuntimeTurns } from "./snapshot.ts";
import { storeTurns } from "./store.ts";

/** Changes are stored at once, and then together for this long. */
const STORE_MS = 100;
/** The runtime sends something every 10 seconds. */
const SILENT_MS = 60_000;
/** Secrets that were set later are redacted after this time. */
const SECRETS_MS = 30_000;

/** A session's sandbox, while its conversation can be followed. */
interface Followed {
  session: SessionRow;
  daemon: Daemon;
}

/** The running sandbox of a session, if this server can reach it; null otherwise. */
export async function findFollowed(deps: Deps, sessionId: string): Promise<Followed | null> {
  const reached = await reachSession(deps, sessionId);
  if (!reached?.daemon || reached.session.status !== "running") return null;
  return isWithinReach(deps, reached.session) ? { session: reached.session, daemon: reached.daemon } : null;
}

/**
 * Stores a conversation while it happens, until the sandbox's stream of events ends. Events are read from before the
 * snapshot on, so that nothing is missed between them; what happened before is in the snapshot.
 * @throws when the stream cannot be read, is silent for a minute, or the changes cannot be stored
 */
export async function followConversation(
  deps: Deps,
  { session, daemon }: Followed,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const until = AbortSignal.any([signal, failed.signal]);
  const fail = (error: unknown) => failed.abort(error);
  let silence = setTimeout(fail, SILENT_MS, new Error("the runtime is silent"));
  const store = createStore(deps, { session, daemon }, fail);
  const states = [
    createLiveState(() => readActivity(daemon, session.waitingFor), store.note, fail),
    createLiveState(() => readRuntimeTurns(daemon), store.schedule, fail),
  ];
  try {
    for await (const { data } of readEvents(await streamRuntimeEvents(daemon, until))) {
      clearTimeout(silence);
      silence = setTimeout(fail, SILENT_MS, new Error("the runtime is silent"));
      const event = parseJson(data);
      for (const state of states) state.applyEvent(event, data.length);
    }
  } finally {
    clearTimeout(silence);
    for (const state of states) state.end();
    await store.idle();
  }
}

/** Stores the end of a conversation as the runtime has it now: an answer that has ended is stored before its prompt's end. */
export async function catchUp(deps: Deps, { session, daemon }: Followed): Promise<void> {
  const turns = await readRuntimeTurns(daemon);
  if (turns) await storeTurns(deps, session, turns.takeChanges(), await redactFor(deps, session));
}

/** Stores what the agent does, and the title that it gives the conversation, when they change. */
function createNotes(
  deps: Deps,
  { session, daemon }: Followed,
  redact: () => Promise<Redact>,
  onError: (error: unknown) => void,
) {
  let noted = "";
  let title = "";
  let noting: Promise<void> = Promise.resolve();
  return {
    note(activity: RuntimeActivity): void {
      const now = JSON.stringify(activity.state);
      if (now === noted) return;
      noted = now;
      noting = noting
        .then(async () => {
          const state = stateOf(activity, await redact());
          if (!(await grant(deps, { session, daemon }, activity, state)))
            await storeActivity(deps, session, state);
        })
        .catch(onError);
    },
    noteTitle(now: string): void {
      if (now === title) return;
      title = now;
      noting = noting
        .then(async () => {
          const text = cleanTitle((await redact())(now));
          await storeTitle(deps, session, { of: "agentTitle", text });
        })
        .catch(onError);
    },
    idle: async () => await noting,
  };
}

/** Gives the permission that was given already, in an earlier sandbox. @returns whether that is all that it waits for */
async function grant(
  deps: Deps,
  { session, daemon }: Followed,
  { state: { ask } }: RuntimeActivity,
  { waitingFor }: ReturnType<typeof stateOf>,
): Promise<boolean> {
  if (ask?.kind !== "permission" || waitingFor?.kind !== "permission") return false;
  const reply = await takeGranted(deps, session.sessionId, waitingFor);
  return reply !== null && (await answerAsk(daemon, ask, { reply }));
}

/** Stores changes one batch after the other, and what the agent does; passes on texts that grow meanwhile. */
function createStore(deps: Deps, followed: Followed, onError: (error: unknown) => void) {
  const { session } = followed;
  const { sessionId } = session;
  let storing: Promise<void> | null = null;
  let storedAt = 0;
  let isEnding = false;
  /** The lengths of the texts under way that were stored last. */
  let lengths = new Map<string, number>();
  let redact: { run: Redact; until: number } | null = null;
  const notes = createNotes(deps, followed, currentRedact, onError);
  return {
    ...{ note: notes.note, schedule },
    async idle() {
      isEnding = true;
      await Promise.all([storing, notes.idle()]);
    },
  };

  async function currentRedact(): Promise<Redact> {
    if (!redact || redact.until < performance.now())
      redact = { run: await redactFor(deps, session), until: performance.now() + SECRETS_MS };
    return redact.run;
  }

  function schedule(turns: RuntimeTurns): void {
    notes.noteTitle(turns.title);
    passOn(turns);
    if (storing || !turns.hasChanges) return;
    storing = storeAll(turns)
      .catch(onError)
      .finally(() => {
        storing = null;
      });
  }

  function passOn(turns: RuntimeTurns): void {
    if (!redact || !deps.liveTexts.has(sessionId)) return;
    for (const { turnId, partId, text } of turns.grown)
      deps.liveTexts.publish(sessionId, { turnId, partId, text: keptOf(text, redact.run) });
  }

  async function storeAll(turns: RuntimeTurns): Promise<void> {
    while (turns.hasChanges) {
      if (isDue(turns)) {
        const current = await currentRedact();
        const changes = turns.takeChanges();
        lengths = new Map(changes.parts.map(({ partId, text }) => [partId, text.length]));
        await storeTurns(deps, session, changes, current);
        const prompt = changes.parts.find(({ kind }) => kind === "prompt");
        if (prompt)
          await storeTitle(deps, session, { of: "promptTitle", text: firstWords(current(prompt.text)) });
        storedAt = performance.now();
      }
      await Bun.sleep(STORE_MS);
    }
  }

  function isDue(turns: RuntimeTurns): boolean {
    // a sandbox that has ended can no longer be read
    if (!turns.hasOnlyGrown || isEnding) return true;
    const passed = performance.now() - storedAt;
    return turns.grown.some(({ partId, text }) => isGrowthDue(passed, text.length, lengths.get(partId) ?? 0));
  }
}

async function redactFor(deps: Deps, session: SessionRow): Promise<Redact> {
  const { values } = await openSessionSecrets(deps, session);
  return createRedact(values);
}
