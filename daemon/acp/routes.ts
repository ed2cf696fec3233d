import { arrayOf, field, isObject, textField } from "../../src/contract/json.ts";
import { VERSION } from "../../src/contract/version.ts";
import type { Conversation } from "./conversation.ts";
import type { PromptPart } from "./messages.ts";
import { effortsOf } from "./offer.ts";
import { isChoice } from "./settings.ts";
import type { Reply, Turns } from "./turns.ts";

/** Parts of a prompt. */
const PARTS_MAX = 50;
const MESSAGE_ID = /^msg_[A-Za-z0-9]{1,100}$/;
const REPLIES: readonly string[] = ["once", "always", "reject"] satisfies Reply[];

/** The routes of the runtime's HTTP API (opencode 1.18) that svc's clients and the daemon use, but for its events. */
export class Routes {
  readonly #conversation: Conversation;
  readonly #turns: Turns;

  constructor(conversation: Conversation, turns: Turns) {
    this.#conversation = conversation;
    this.#turns = turns;
  }

  /**
   * @param route the method and the path
   * @param limit of messages; 0: all
   * @returns null if there is no such route
   */
  async respond(route: string, body: unknown, limit: number): Promise<Response | null> {
    switch (route) {
      case "GET /config/choices": {
        const offer = await this.#turns.offer();
        return Response.json({
          models: offer.model?.values ?? [],
          modes: offer.mode?.values ?? [],
          efforts: effortsOf(offer),
        });
      }
      case "POST /config/choice":
        return Response.json(isChoice(body) && (await this.#turns.choose(body)));
      case "GET /global/health":
        return Response.json({ healthy: true, version: VERSION });
      case "GET /config":
        return Response.json({});
      case "GET /agent":
        return Response.json([]);
      case "GET /question":
        return Response.json(this.#turns.questions.requests);
      case "GET /permission":
        return Response.json(this.#turns.requests);
      case "GET /session":
        return Response.json(this.#conversation.session ? [this.#conversation.session] : []);
      case "POST /session":
        return Response.json(this.#conversation.open(textField(body, "title")));
      case "GET /session/status": {
        const { session } = this.#conversation;
        return Response.json(session && this.#turns.isBusy ? { [session.id]: { type: "busy" } } : {});
      }
    }
    const [, permission] = /^POST \/permission\/([^/]+)\/reply$/.exec(route) ?? [];
    if (permission !== undefined) return this.#reply(permission, textField(body, "reply"));
    const [, question, verb] = /^POST \/question\/([^/]+)\/(reply|reject)$/.exec(route) ?? [];
    if (question !== undefined)
      return this.#replyTo(question, verb === "reject" ? null : arrayOf(field(body, "answers")).map(textsOf));
    const [, method, id, what] = /^(GET|POST) \/session\/([^/]+)(?:\/([a-z_]+))?$/.exec(route) ?? [];
    if (this.#conversation.session === null || id !== this.#conversation.session.id) return null;
    return this.#ofSession(`${method} ${what ?? ""}`, body, limit);
  }

  #ofSession(route: string, body: unknown, limit: number): Response | null {
    switch (route) {
      case "GET ":
        return Response.json(this.#conversation.session);
      case "GET message":
        return Response.json(
          limit > 0 ? this.#conversation.messages.slice(-limit) : this.#conversation.messages,
        );
      case "GET todo":
        return Response.json(this.#conversation.todos);
      case "POST prompt_async":
        return this.#prompt(body);
      case "POST message":
        return this.#note(body);
      case "POST abort":
        return Response.json(this.#turns.abort());
    }
    return null;
  }

  #prompt(body: unknown): Response {
    const id = textField(body, "messageID");
    const parts = arrayOf(field(body, "parts")).flatMap(readPart);
    if (!MESSAGE_ID.test(id) || parts.length === 0 || parts.length > PARTS_MAX)
      return failure(400, "BadRequest");
    const isNote = isObject(body) && body["noReply"] === true;
    if (!isNote && this.#turns.isFull && !this.#conversation.find(id)) return failure(429, "TooManyPrompts");
    this.#turns.accept(id, parts, isNote);
    return new Response(null, { status: 204 });
  }

  /** A prompt that is not answered. One that is answered here, by the runtime's API, is refused. */
  #note(body: unknown): Response {
    if (!isObject(body) || body["noReply"] !== true) return failure(400, "BadRequest");
    const accepted = this.#prompt(body);
    return accepted.ok ? Response.json(this.#conversation.find(textField(body, "messageID"))) : accepted;
  }

  #replyTo(requestId: string, answers: string[][] | null): Response | null {
    return this.#turns.questions.reply(requestId, answers) ? Response.json(true) : null;
  }

  #reply(requestId: string, answer: string): Response | null {
    if (!isReply(answer)) return failure(400, "BadRequest");
    return this.#turns.reply(requestId, answer) ? Response.json(true) : null;
  }
}

function textsOf(value: unknown): string[] {
  return arrayOf(value).filter((each) => typeof each === "string");
}

function isReply(text: string): text is Reply {
  return REPLIES.includes(text);
}

function readPart(value: unknown): PromptPart[] {
  const type = textField(value, "type");
  const [text, url, filename] = [
    textField(value, "text"),
    textField(value, "url"),
    textField(value, "filename"),
  ];
  if (type === "text" && text !== "")
    return [{ type, text, ...(field(value, "synthetic") === true && { synthetic: true }) }];
  if (type === "file" && url !== "")
    return [{ type, mime: textField(value, "mime"), url, ...(filename !== "" && { filename }) }];
  return [];
}

export function failure(status: number, name: string): Response {
  return Response.json({ name, data: {} }, { status });
}
