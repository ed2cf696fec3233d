import { readEvents } from "../../../src/contract/sse.ts";
import { path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import { transportOf } from "../../transport.ts";
import type { Demo } from "./demo.ts";
import { readStage, type Stage } from "./stage.ts";

/** The server sends something every 15 seconds. */
const SILENT_SECONDS = 40;
/** Until a lost stream is opened again. */
const RETRY_MS = 2_000;

/**
 * Asks the person, and stops asking when the demo has left this stage, because somebody has done the step in the dashboard
 * or in another terminal.
 * @param ask rejects or resolves soon after its signal is aborted
 */
export async function askUnlessMoved(
  demo: Demo,
  at: Stage["at"],
  ask: (signal: AbortSignal) => Promise<string>,
): Promise<string> {
  const moved = new AbortController();
  const over = new AbortController();
  watchStage(demo, at, over.signal)
    .then((hasMoved) => hasMoved && moved.abort())
    .catch(() => {});
  try {
    return await ask(moved.signal);
  } catch (error) {
    if (moved.signal.aborted) {
      await demo.context.out.note("\nThis step was taken elsewhere; the demo continues.");
      return "moved";
    }
    if (error instanceof CliError && error.code === "cancelled") throw left("The demo stops here.");
    throw error;
  } finally {
    over.abort();
  }
}

/** The person does not go on. */
export const left = (what: string): CliError =>
  new CliError("cancelled", what, {
    hint: "To continue the demo: svc demo. To delete it: svc demo --clean",
  });

/** Reads the stage again at each event of the project. @returns whether it is another one; false when it was stopped */
async function watchStage(demo: Demo, at: Stage["at"], signal: AbortSignal): Promise<boolean> {
  const { api, record, context } = demo;
  const transport = transportOf(api);
  const events = path`/projects/${record.project_id ?? ""}/events`;
  while (!signal.aborted) {
    try {
      const options = { headers: {}, silentSeconds: SILENT_SECONDS, signal };
      for await (const _ of readEvents(await transport.stream(events, options), transport.unexpected)) {
        if ((await readStage(api, record, demo.skipsReview)).at !== at) return true;
      }
    } catch {
      // the person's answer comes first: a server that is gone shows in the next step
    }
    await context.system.sleep(RETRY_MS, signal);
  }
  return false;
}
