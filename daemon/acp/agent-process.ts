import { realpathSync } from "node:fs";
import {
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk";
import { field, numberField, textField } from "../../src/contract/json.ts";
import { VERSION } from "../../src/contract/version.ts";
import { forEachLine } from "../process/lines.ts";
import { type StartLimits, untilStuck } from "../process/stuck.ts";
import { sentence } from "../prompts/outcome.ts";
import { NO_OFFER, nextChange, type Offer, offerOf } from "./offer.ts";
import type { FormResponse } from "./questions.ts";
import type { AcpChoice, AcpSettings } from "./settings.ts";

/** For the agent to start, and to open or resume a conversation: a cold one reads its programs from the disk first. */
const START: StartLimits = { stillMs: 120_000, longestMs: 600_000 };
/** For a change of one setting. */
const CALL_MS = 30_000;
/** Changes of settings in a row: one each, and another where a model brings its own effort. */
const CHANGES_MAX = 6;
const MESSAGE_MAX_BYTES = 32 * 1024 * 1024;

/** What the agent asks its client for, and reports. */
export interface AgentClient {
  /** An update of the conversation, of the `session/update` notification. */
  onUpdate(update: unknown): void;
  /** @returns the id of the chosen option; null if the request was cancelled */
  onPermission(request: unknown, signal: AbortSignal): Promise<string | null>;
  /** @param form the parameters of `elicitation/create` */
  onForm(form: unknown, signal: AbortSignal): Promise<FormResponse>;
  onStderr(line: string): void;
}

/** The agent has ended, or refuses to work. The message is a sentence for a person. */
export class AgentError extends Error {
  override readonly name = "AgentError";
}

/** How a conversation begins: the agent continues its own, or knows nothing of it. */
export interface Opened {
  id: string;
  isResumed: boolean;
}

/** One process of the agent. */
export class AgentProcess {
  readonly #settings: AcpSettings;
  readonly #start: StartLimits;
  readonly #child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  readonly #connection: ClientConnection;
  readonly #over: Promise<never>;
  #opening: Promise<Opened> | null = null;
  /** Updates of a conversation that is loaded are its history, which is known. */
  #isLoading = false;
  #lastError = "";
  #offer: Offer = NO_OFFER;
  #sessionId = "";
  /** Why it was ended while it started. */
  #stuck: string | null = null;
  isOver = false;

  constructor(settings: AcpSettings, agentClient: AgentClient, startLimits = START) {
    this.#settings = settings;
    this.#start = startLimits;
    this.#child = start(settings);
    const { stdin, stdout, stderr, exited } = this.#child;
    forEachLine(stderr, (line) => {
      if (line.trim() !== "") this.#lastError = line;
      agentClient.onStderr(line);
    });
    const input = new WritableStream<Uint8Array>({
      async write(bytes) {
        stdin.write(bytes);
        await stdin.flush();
      },
    });
    this.#connection = client({ name: "svc" })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.#noteSettings(params.update);
        if (!this.#isLoading) agentClient.onUpdate(params.update);
      })
      .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        const optionId = await agentClient.onPermission(params, signal);
        return { outcome: optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
      })
      .onRequest(
        methods.client.elicitation.create,
        async ({ params, signal }) => await agentClient.onForm(params, signal),
      )
      .connect(ndJsonStream(input, stdout, { maxMessageBytes: MESSAGE_MAX_BYTES }));
    const { promise, reject } = Promise.withResolvers<never>();
    this.#over = promise;
    promise.catch(() => {});
    void Promise.race([exited, this.#connection.closed]).then(async () => {
      this.kill();
      // the last line may follow the end of the output
      await Promise.race([exited, Bun.sleep(1_000)]);
      reject(new AgentError(this.#ending()));
    });
  }

  get offer(): Offer {
    return this.#offer;
  }

  open(known: string | null, choice: AcpChoice): Promise<Opened> {
    this.#opening ??= this.#open(known, choice);
    return this.#opening;
  }

  /**
   * Changes its settings one by one; those that it does not offer stay as they are.
   * @param from what it works with: by its command, it has that model, whatever it reports of a resumed conversation
   * @throws AgentError
   */
  async choose(choice: AcpChoice, from: AcpChoice): Promise<void> {
    const wanted = Bun.deepEquals(choice.model, from.model) ? { ...choice, model: null } : choice;
    for (let changes = 0; changes < CHANGES_MAX; changes++) {
      const change = nextChange(this.#offer, wanted);
      const offered = change && this.#offer[change.setting];
      if (!change || !offered) return;
      const { configId } = offered;
      const { value } = change;
      const sessionId = this.#sessionId;
      const changed = await Promise.race([
        configId === null
          ? this.request(methods.agent.session.setMode, { sessionId, modeId: value })
          : this.request(methods.agent.session.setConfigOption, { sessionId, configId, value }),
        Bun.sleep(CALL_MS).then(() => {
          throw new AgentError(`The agent did not change its ${change.setting}.`);
        }),
      ]);
      this.#offer = offerOf(changed, { ...this.#offer, [change.setting]: { ...offered, current: value } });
    }
  }

  /** @throws AgentError */
  async request(method: string, params: Record<string, unknown>): Promise<unknown> {
    try {
      return await Promise.race([this.#connection.agent.request<unknown>(method, params), this.#over]);
    } catch (error) {
      // the connection ends before it is known how the process did
      if (this.#connection.signal.aborted) return await this.#over;
      throw error instanceof AgentError ? error : new AgentError(refusalOf(error));
    }
  }

  notify(method: string, params: Record<string, unknown>): void {
    void this.#connection.agent.notify(method, params).catch(() => {});
  }

  /** Ends it. It is over at once, although the process ends a little later: whoever opens a conversation then needs another. */
  kill(): void {
    this.isOver = true;
    this.#child.kill("SIGKILL");
  }

  async #open(known: string | null, choice: AcpChoice): Promise<Opened> {
    const opened = new AbortController();
    void this.#watchStart(opened.signal);
    try {
      const started = await this.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        // in forms alone: svc has no page for an address that an agent gives
        clientCapabilities: { elicitation: { form: {} } },
        clientInfo: { name: "svc", version: VERSION },
      });
      if (numberField(started, "protocolVersion") !== PROTOCOL_VERSION)
        throw new AgentError(
          `The agent does not speak version ${PROTOCOL_VERSION} of the Agent Client Protocol.`,
        );
      const capabilities = field(started, "agentCapabilities");
      const resumed = known === null ? null : await this.#resume(known, capabilities);
      if (known !== null && resumed) {
        await this.#begin(known, resumed, choice);
        return { id: known, isResumed: true };
      }
      const session = await this.request(methods.agent.session.new, this.#sessionParams(capabilities));
      const id = textField(session, "sessionId");
      if (id === "") throw new AgentError("The agent did not open a conversation.");
      await this.#begin(id, session, choice);
      return { id, isResumed: false };
    } catch (error) {
      this.kill();
      throw error;
    } finally {
      opened.abort();
    }
  }

  /** A slow machine makes the start late; only an agent that does nothing is ended. */
  async #watchStart(opened: AbortSignal): Promise<void> {
    this.#stuck = await untilStuck(this.#child.pid, this.#start, opened);
    if (this.#stuck !== null) this.kill();
  }

  /** @returns null if the agent cannot resume the conversation, or has lost it */
  async #resume(sessionId: string, capabilities: unknown): Promise<unknown> {
    const params = { ...this.#sessionParams(capabilities), sessionId };
    const canResume = field(field(capabilities, "sessionCapabilities"), "resume") !== undefined;
    const method = canResume
      ? methods.agent.session.resume
      : field(capabilities, "loadSession") === true
        ? methods.agent.session.load
        : null;
    if (method === null) return null;
    this.#isLoading = true;
    try {
      return (await this.request(method, params)) ?? {};
    } catch (error) {
      if (this.isOver) throw error;
      return null;
    } finally {
      this.#isLoading = false;
    }
  }

  #sessionParams(capabilities: unknown): Record<string, unknown> {
    const { workspace, tools, rules } = this.#settings;
    const hasHttp = field(field(capabilities, "mcpCapabilities"), "http") === true;
    return {
      // an agent may compare it with the folder that it is in
      cwd: realpathSync(workspace),
      mcpServers: tools && hasHttp ? [tools] : [],
      ...(rules.in === "system-prompt" && { _meta: { systemPrompt: { append: rules.text } } }),
    };
  }

  async #begin(sessionId: string, opened: unknown, choice: AcpChoice): Promise<void> {
    this.#sessionId = sessionId;
    this.#offer = offerOf(opened, this.#offer);
    await this.choose(choice, this.#settings.choice);
  }

  /** An agent may change its settings itself, for example the efforts with the model. */
  #noteSettings(update: unknown): void {
    if (textField(update, "sessionUpdate") === "config_option_update")
      this.#offer = offerOf(update, this.#offer);
  }

  #ending(): string {
    if (this.#stuck !== null) return `The agent did not start: ${this.#stuck}.${this.#lastWords()}`;
    const { exitCode, signalCode } = this.#child;
    const how = signalCode ? `a signal, ${signalCode}` : `status ${exitCode ?? "unknown"}`;
    return `The agent ended with ${how}.${this.#lastWords()}`;
  }

  #lastWords(): string {
    return this.#lastError === "" ? "" : ` Its last message: ${sentence(this.#lastError)}`;
  }
}

/** @throws AgentError */
function start({ command, environment, workspace }: AcpSettings): Bun.Subprocess<"pipe", "pipe", "pipe"> {
  try {
    return Bun.spawn([...command], {
      cwd: workspace,
      env: { ...environment },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
  } catch {
    throw new AgentError("The agent's program cannot be started: it is not for this system.");
  }
}

/** An error response of the agent, as a sentence. */
function refusalOf(error: unknown): string {
  const data = field(error, "data");
  const details =
    textField(data, "message") || textField(data, "details") || (typeof data === "string" ? data : "");
  const message = error instanceof Error ? error.message : "";
  return sentence([message, details].filter((each) => each !== "").join(": "));
}
