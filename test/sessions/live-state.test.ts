import { expect, test } from "bun:test";
import { RuntimeTurns } from "../../src/conversation/runtime-turns.ts";
import { createLiveState, type LiveState } from "../../src/features/sessions/conversation/live-state.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";
import { CONVERSATION, RuntimeHost } from "../helpers/runtime-host.ts";
import { until } from "../helpers/until.ts";

const RUNS = { numRuns: share(200, 5_000) };

type Step =
  // of the agent
  | "begin"
  | "word"
  | "whole"
  | "end"
  // of the connection, and of the reading of a snapshot
  | "deliver"
  | "take"
  | "answer"
  | "fail"
  | "cut"
  | "store";

const steps = fc.array(
  fc.constantFrom<Step>(
    ...(["begin", "word", "word", "word", "whole", "end"] as const),
    ...(["deliver", "deliver", "deliver", "take", "answer", "fail", "cut", "store"] as const),
  ),
  { maxLength: 80 },
);

/** An agent that writes one text after the other, and the texts so far. */
class Talk {
  readonly host = new RuntimeHost();
  readonly texts = new Map<string, { text: string; isComplete: boolean }>();
  readonly events: unknown[] = [];
  #count = 0;
  #message: string | null = null;
  #part: string | null = null;

  constructor(hasTextsUnderWay: boolean) {
    this.host.hasTextsUnderWay = hasTextsUnderWay;
    this.host.emit = (type, properties) =>
      void this.events.push(
        structuredClone({ type, properties: { sessionID: CONVERSATION, ...properties } }),
      );
  }

  do(step: Step): void {
    const { host } = this;
    if (step === "begin" && this.#part === null) {
      if (this.#message === null) {
        const id = `msg_${++this.#count}`;
        host.message({ id, role: "user" });
        host.setBusy(true);
        this.#message = `${id}a`;
        host.message({ id: this.#message, role: "assistant", parentID: id });
      }
      this.#part = `prt_${++this.#count}`;
      this.texts.set(this.#part, { text: "", isComplete: false });
      host.part(this.#message, { id: this.#part, type: "text", text: "" });
    }
    const [message, part] = [this.#message, this.#part];
    const text = this.texts.get(part ?? "");
    if (step === "word" && message !== null && part !== null && text) {
      const word = `${++this.#count} `;
      text.text += word;
      host.delta(message, part, word);
    }
    if ((step === "whole" || step === "end") && message !== null && part !== null && text) {
      text.isComplete = true;
      host.part(message, { id: part, type: "text", text: text.text, time: { end: 1 } });
      this.#part = null;
    }
    if (step === "end" && message !== null) {
      host.message({ id: message, role: "assistant", finish: "stop", time: { created: 1, completed: 2 } });
      host.setBusy(false);
      this.#message = null;
    }
  }
}

/** What the server stores, by id: see `storeTurns`. */
class Stored {
  readonly texts = new Map<string, { text: string; isComplete: boolean }>();

  take(turns: RuntimeTurns): void {
    for (const { partId, text, isComplete, mayLack } of turns.takeChanges().parts) {
      const before = this.texts.get(partId) ?? { text: "", isComplete: false };
      if (before.isComplete && !isComplete) continue;
      const isShorter = text.length < before.text.length;
      if (isShorter && !isComplete) continue;
      this.texts.set(partId, { text: isShorter && mayLack ? before.text : text, isComplete });
    }
  }
}

/** One connection after the other to an agent, with events and snapshots that take their time. */
class Follower {
  readonly #talk: Talk;
  turns: RuntimeTurns | null = null;
  #state: LiveState | null = null;
  #delivered = 0;
  #reading: { resolve: (turns: RuntimeTurns | null) => void; taken: RuntimeTurns | null } | null = null;
  /** The texts that were begun since the connection was made. */
  seen = new Set<string>();

  constructor(talk: Talk) {
    this.#talk = talk;
    this.connect();
  }

  connect(): void {
    this.#state?.end();
    this.#reading?.resolve(null);
    this.#reading = null;
    this.turns = null;
    this.seen = new Set();
    this.#delivered = this.#talk.events.length;
    this.#state = createLiveState<RuntimeTurns>(
      () => {
        const { promise, resolve } = Promise.withResolvers<RuntimeTurns | null>();
        this.#reading = { resolve, taken: null };
        return promise;
      },
      (turns) => {
        this.turns = turns;
      },
      (error) => {
        throw error;
      },
    );
    this.#state.applyEvent({ type: "server.connected" }, 1);
  }

  async do(step: Step): Promise<void> {
    const { host, events } = this.#talk;
    if (step === "cut") this.connect();
    if (step === "deliver" && this.#delivered < events.length)
      this.#state?.applyEvent(events[this.#delivered++], 1);
    if (step === "take" && this.#reading && !this.#reading.taken) {
      const taken = new RuntimeTurns(CONVERSATION);
      taken.applySnapshot(structuredClone(host.messages), host.isBusy, null);
      this.#reading.taken = taken;
    }
    if ((step === "answer" && this.#reading?.taken) || step === "fail") {
      const reading = this.#reading;
      this.#reading = null;
      reading?.resolve(step === "fail" ? null : reading.taken);
      // the state goes on
      for (let tick = 0; tick < 9; tick++) await Promise.resolve();
    }
  }

  end(): void {
    this.#state?.end();
  }

  /** Until everything has arrived. */
  async finish(): Promise<void> {
    this.#state?.applyEvent({ type: "server.heartbeat" }, 1);
    for (const step of ["take", "answer", "take", "answer"] as const) await this.do(step);
    while (this.#delivered < this.#talk.events.length) await this.do("deliver");
  }
}

test.each([true, false])(
  "no word is missing, twice or gone again, whenever events and snapshots come (texts under way in snapshots: %p)",
  async (hasTextsUnderWay) => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const talk = new Talk(hasTextsUnderWay);
        const stored = new Stored();
        const follower = new Follower(talk);
        const store = () => {
          const before = structuredClone(stored.texts);
          if (follower.turns) stored.take(follower.turns);
          for (const [id, { text }] of stored.texts) {
            expect(talk.texts.get(id)?.text ?? "").toStartWith(text);
            expect(text).toStartWith(before.get(id)?.text ?? "");
          }
        };
        for (const step of all) {
          const known = new Set(talk.texts.keys());
          talk.do(step);
          for (const id of talk.texts.keys()) if (!known.has(id)) follower.seen.add(id);
          await follower.do(step);
          if (step === "store") store();
        }
        await follower.finish();
        follower.end();
        store();
        for (const [id, text] of talk.texts)
          if (text.isComplete || follower.seen.has(id) || hasTextsUnderWay)
            expect([id, stored.texts.get(id)]).toEqual([id, text]);
      }),
      RUNS,
    );
  },
);

test("what fails is reported, and what is read after the end is not", async () => {
  const errors: unknown[] = [];
  const failing = createLiveState(
    () => Promise.reject(new Error("no")),
    () => {},
    (error) => errors.push(error),
  );
  failing.applyEvent({}, 1);
  for (let tick = 0; tick < 9; tick++) await Promise.resolve();
  expect(errors).toEqual([new Error("no")]);
  const { promise, resolve } = Promise.withResolvers<RuntimeTurns>();
  let changes = 0;
  const ended = createLiveState(
    () => promise,
    () => changes++,
    (error) => errors.push(error),
  );
  ended.applyEvent({}, 1);
  ended.end();
  resolve(new RuntimeTurns(CONVERSATION));
  for (let tick = 0; tick < 9; tick++) await Promise.resolve();
  expect([changes, errors.length]).toEqual([0, 1]);
});

test("a reading that fails is repeated at once if there is an event, and else after a while", async () => {
  const readings: ((state: null) => void)[] = [];
  const state = createLiveState<RuntimeTurns>(
    () => new Promise((resolve) => readings.push(resolve)),
    () => {},
    () => {},
  );
  const fail = async (at: number) => {
    readings[at]?.(null);
    for (let tick = 0; tick < 9; tick++) await Promise.resolve();
    return readings.length;
  };
  state.applyEvent({}, 1);
  state.applyEvent({}, 1);
  expect(await fail(0)).toBe(2);
  expect(await fail(1)).toBe(2);
  await until("it is read again", () => readings.length === 3);
  expect(await fail(2)).toBe(3);
  state.applyEvent({}, 1);
  for (let tick = 0; tick < 9; tick++) await Promise.resolve();
  expect(readings.length).toBe(4);
  await fail(3);
  state.end();
  for (let tick = 0; tick < 9; tick++) await Promise.resolve();
  expect(readings.length).toBe(4);
});

test("of events before the snapshot only the newest four mebibytes are kept", async () => {
  const { promise, resolve } = Promise.withResolvers<{ applyEvent(event: unknown): void }>();
  const applied: unknown[] = [];
  const state = createLiveState(
    () => promise,
    () => {},
    () => {},
  );
  for (let event = 0; event < 10; event++) state.applyEvent(event, 1024 * 1024);
  resolve({ applyEvent: (event) => applied.push(event) });
  for (let tick = 0; tick < 9; tick++) await Promise.resolve();
  expect(applied).toEqual([6, 7, 8, 9]);
});
