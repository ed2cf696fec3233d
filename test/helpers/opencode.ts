// A stand-in of the agent runtime's program, run as `opencode serve --port N --hostname 127.0.0.1`: its routes and its
// habits that the daemon has to do with (research on opencode 1.18), and on request its misbehaviour.
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import { createOrigin } from "./behaviour-origin.ts";
import { createConversations } from "./opencode-conversations.ts";

/** How it is to behave: JSON in the file that STANDIN names, or else in its home, read at its start and at each request. */
export interface Behaviour {
  /** Exits before it listens. */
  crash?: boolean;
  /** Prints its line, and never responds. */
  hang?: boolean;
  /** Never prints its line. */
  mute?: boolean;
  /** Its configuration is invalid: `/config` returns 400. */
  brokenConfig?: boolean;
  /** Milliseconds after its line in which it accepts connections and never responds. */
  deafMs?: number;
  ignoreSigterm?: boolean;
  /** Starts children of its own: in its group, in another session, and orphaned. */
  children?: boolean;
  /** Duration of a run in milliseconds; it is visible after `coldMs`. */
  runMs?: number;
  coldMs?: number;
  /** Runs that are visible end at once. */
  finish?: boolean;
  /** How often a run has to be aborted. */
  aborts?: number;
  agents?: string[];
  /** Accepts prompts, and loses the response. */
  lostAnswer?: boolean;
  /** The version that it reports. */
  version?: string;
  /** Never responds from now on, like a runtime that hangs. */
  wedged?: boolean;
}

const file = process.env["STANDIN"] || join(process.env["HOME"] ?? "", "standin.json");
const behaviour = (): Behaviour => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {});
const note = (text: string) => appendFileSync(`${file}.log`, `${text}\n`);

const started = behaviour();
note(`start ${process.pid} ${process.argv.slice(2).join(" ")}`);
const port = Number(process.argv[process.argv.indexOf("--port") + 1]);
process.on("SIGTERM", () => {
  note(`SIGTERM ${process.pid}`);
  if (!started.ignoreSigterm) process.exit(0);
});
if (started.children) {
  Bun.spawn(["sleep", "4242"]);
  Bun.spawn(["sleep", "4243"], { detached: true });
  // its parent exits at once
  Bun.spawn(["sh", "-c", "setsid sleep 4244 & exit 0"], { detached: true });
}
if (started.crash) {
  process.stderr.write("it crashed\n");
  process.exit(7);
}

const password = process.env["OPENCODE_SERVER_PASSWORD"];
const expected = password && `Basic ${Buffer.from(`opencode:${password}`).toString("base64")}`;
let deafUntil = 0;
const prompts: unknown[] = [];
/** What the workspace had when the configuration was first read. */
let found: string[] | null = null;
const listeners = new Set<ServerResponse>();
const conversations = createConversations(`${file}.store`, behaviour, (type, properties) => {
  for (const response of listeners) response.write(`data: ${JSON.stringify({ type, properties })}\n\n`);
});

const server = createOrigin((request, response) => {
  const now = behaviour();
  if (started.hang || now.wedged || Date.now() < deafUntil) return true;
  if (expected && request.headers.authorization !== expected) {
    response.writeHead(401, { "WWW-Authenticate": 'Basic realm="Secure Area"' }).end("Unauthorized");
    return true;
  }
  return answer(request, response);
});
server.listen(port, "127.0.0.1", () => {
  deafUntil = Date.now() + (started.deafMs ?? 0);
  if (!started.mute) process.stdout.write(`opencode server listening on http://127.0.0.1:${port}\n`);
});

// the app of a project that has this secret: what the agent would have started
const appPort = process.env["APP_PORT"];
if (appPort) {
  const app = createOrigin(({ url }, response) => {
    if (url === "/whoami") response.end(process.env["SVC_SESSION_ID"]);
    return url === "/whoami";
  });
  app.listen(Number(appPort), "127.0.0.1");
}

function answer(request: IncomingMessage, response: ServerResponse): boolean {
  const { method } = request;
  const path = request.url?.split("?")[0] ?? "/";
  const json = (body: unknown, status = 200): true => {
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    return true;
  };
  const [, id = "", verb] = /^\/session\/(ses_\w+)(?:\/(.+))?$/.exec(path) ?? [];
  if (path === "/global/health") return json({ healthy: true, version: started.version ?? RUNTIME_VERSION });
  if (path === "/config") {
    found ??= readdirSync(process.cwd());
    return started.brokenConfig
      ? json(
          { name: "ConfigInvalidError", data: { path: "opencode.json", message: "agent.x: wrong type" } },
          400,
        )
      : json({ model: "fake/fake" });
  }
  if (path === "/agent") return json((behaviour().agents ?? ["build"]).map((name) => ({ name })));
  if (path === "/session" && method === "GET") return json(conversations.list());
  if (path === "/session" && method === "POST")
    return read((body) => json(conversations.create(body ? JSON.parse(body) : {})));
  if (path === "/session/status")
    return json(Object.fromEntries(conversations.busy().map((busy) => [busy, { type: "busy" }])));
  if (verb === "abort") {
    note(`abort ${id}`);
    conversations.abort(id);
    return json(true);
  }
  if (verb === "prompt_async") {
    return read((text) => {
      const body = JSON.parse(text);
      prompts.push(body);
      note(`prompt ${body.messageID}`);
      conversations.prompt(id, body);
      if (behaviour().lostAnswer) request.socket.destroy();
      else response.writeHead(204).end();
    });
  }
  // what the daemon tells the agent is only noted
  if (verb === "message" && method === "POST")
    return read((body) => {
      note(`told ${body}`);
      json({});
    });
  if (verb === "message") {
    const limit = Number(new URLSearchParams(request.url?.split("?")[1]).get("limit") ?? 100);
    return json(conversations.messages(id).slice(-limit));
  }
  if (verb?.startsWith("message/")) {
    const found = conversations.messages(id).find(({ info }) => verb === `message/${info.id}`);
    return found ? json(found) : json({ name: "NotFoundError", data: {} }, 404);
  }
  if (id && verb === undefined && method === "DELETE") {
    conversations.remove(id);
    return json(true);
  }
  if (path === "/event") {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write('data: {"type":"server.connected"}\n\n');
    listeners.add(response);
    response.on("close", () => listeners.delete(response));
    return true;
  }
  if (path === "/standin") {
    const { uid = 0, gid = 0 } = { uid: process.getuid?.(), gid: process.getgid?.() };
    return json({
      env: process.env,
      argv: process.argv,
      cwd: process.cwd(),
      pid: process.pid,
      uid,
      gid,
      prompts,
      found,
    });
  }
  return false;

  function read(then: (text: string) => unknown): true {
    let text = "";
    request.on("data", (bytes: Buffer) => {
      text += bytes.toString();
    });
    request.on("end", () => then(text));
    return true;
  }
}
