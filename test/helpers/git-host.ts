import { dirname } from "node:path";
import type { Remote } from "./remote.ts";

interface HostOptions {
  /** Who may read and write; nobody is asked when left out. */
  credential?: { username: string; token: string };
  /** Answers instead of git, when it returns something. */
  intercept?: (request: Request) => Response | Promise<Response> | null;
}

/** A git host over smart HTTP on loopback: git's own `http-backend` in front of a real repository. */
export class GitHost {
  readonly url: string;
  /** What arrived, the oldest first. */
  readonly seen: { method: string; path: string; authorization: string | null }[] = [];
  private readonly server: Bun.Server<undefined>;

  constructor(remote: Remote, { credential, intercept }: HostOptions = {}) {
    remote.git("config", "http.receivepack", "true");
    const wanted = credential && `Basic ${btoa(`${credential.username}:${credential.token}`)}`;
    this.server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        const { pathname: path } = new URL(request.url);
        const authorization = request.headers.get("authorization");
        this.seen.push({ method: request.method, path, authorization });
        const instead = await intercept?.(request);
        if (instead) return instead;
        if (wanted !== undefined && authorization !== wanted) {
          return new Response("no", { status: 401, headers: { "WWW-Authenticate": 'Basic realm="git"' } });
        }
        return backend(dirname(remote.path), request);
      },
    });
    this.url = `http://127.0.0.1:${this.server.port}/repo.git`;
  }

  async stop(): Promise<void> {
    await this.server.stop(true);
  }
}

/** Runs `git http-backend` (CGI, RFC 3875) for one request. */
async function backend(root: string, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const body = new Uint8Array(await request.arrayBuffer());
  const child = Bun.spawn(["git", "http-backend"], {
    stdin: body,
    stderr: "ignore",
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: "/nonexistent",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
      CONTENT_LENGTH: String(body.byteLength),
      HTTP_CONTENT_ENCODING: request.headers.get("content-encoding") ?? "",
      GIT_PROTOCOL: request.headers.get("git-protocol") ?? "",
      REMOTE_USER: "someone",
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  const output = Buffer.from(await new Response(child.stdout).arrayBuffer());
  const end = output.indexOf("\r\n\r\n");
  const headers = new Headers();
  let status = 200;
  for (const line of output.subarray(0, end).toString().split("\r\n")) {
    const [name = "", ...rest] = line.split(":");
    if (name.toLowerCase() === "status") status = Number.parseInt(rest.join(":"), 10);
    else headers.append(name, rest.join(":").trim());
  }
  return new Response(output.subarray(end + 4), { status, headers });
}
