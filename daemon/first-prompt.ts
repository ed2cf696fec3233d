import { messageId } from "../src/contract/message-id.ts";
import type { Conversation } from "./conversation.ts";
import type { RuntimeCall } from "./runtime-call.ts";
import type { Settings } from "./settings.ts";

/** The first prompt could not be given to the runtime. The message is a sentence for a person. */
export class PromptError extends Error {
  override readonly name = "PromptError";
}

/** A cold runtime reads its agents and plugins first. */
const CALL_MS = 30_000;
const TRIES = 3;
const PAUSE_MS = 1_000;

/**
 * Opens the conversation with the first prompt. It has an id of ours, by which the runtime takes it once, however often it
 * is said.
 * @throws PromptError
 */
export async function sendFirstPrompt(
  call: RuntimeCall,
  conversation: Pick<Conversation, "open">,
  { agent, model }: Pick<Settings, "agent" | "model">,
  text: string,
): Promise<void> {
  if (agent !== null) await checkAgent(call, agent);
  const id = await tryAgain(() => conversation.open());
  await ask(call, `/session/${id}/prompt_async`, {
    messageID: messageId(Date.now()),
    parts: [{ type: "text", text }],
    ...(agent !== null && { agent }),
    ...(model?.includes("/") && { model: modelOf(model) }),
  });
}

/** The runtime takes a prompt for an agent that it does not have, and fails later. */
async function checkAgent(call: RuntimeCall, agent: string): Promise<void> {
  const { body } = await tryAgain(() => call("GET", "/agent", CALL_MS));
  const names = Array.isArray(body)
    ? body.map((entry: unknown) =>
        typeof entry === "object" && entry !== null ? Reflect.get(entry, "name") : null,
      )
    : [];
  if (!names.includes(agent))
    throw new PromptError(
      `The first prompt was not sent: the project has no agent "${agent}". Its agents are files in agents/ of its configuration folder.`,
    );
}

function modelOf(model: string): { providerID: string; modelID: string } {
  const at = model.indexOf("/");
  return { providerID: model.slice(0, at), modelID: model.slice(at + 1) };
}

async function ask(call: RuntimeCall, path: string, body: unknown): Promise<unknown> {
  const answer = await tryAgain(() => call("POST", path, CALL_MS, body));
  if (answer.status === 200 || answer.status === 204) return answer.body;
  throw new PromptError(`The first prompt was not sent: the agent runtime answered ${answer.status}.`);
}

async function tryAgain<T>(work: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left--) {
    try {
      return await work();
    } catch {
      if (left <= 1)
        throw new PromptError("The first prompt was not sent: the agent runtime does not answer.");
      await Bun.sleep(PAUSE_MS);
    }
  }
}
