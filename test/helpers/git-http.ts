import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";

export interface GitHttpServer extends Disposable {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  /** The requests, with their Authorization headers. */
  requests: { method: string; path: string; authorization: string | null }[];
  /** Requests that git still handles, even if the client has disconnected. */
  pending(): number;
}

/**
 * Serves the repositories of a directory over smart HTTP (`git http-backend`) on loopback.
 * @param before answers instead of git when it returns a response
 */
export function serveGit(
  root: string,
  before: (request: Request) => Response | null | Promise<Response | null> = () => null,
): GitHttpServer {
  const requests: GitHttpServer["requests"] = [];
  let pending = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const authorization = request.headers.get("authorization");
      requests.push({ method: request.method, path: url.pathname, authorization });
      pending++;
      try {
        return (await before(request)) ?? (await backend(root, request));
      } finally {
        pending--;
      }
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    requests,
    pending: () => pending,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** git's own response. */
export async function backend(root: string, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const encoded = request.headers.get("content-encoding");
  const child = Bun.spawn(["git", "-c", "http.receivepack=true", "http-backend"], {
    env: {
      ...GIT_ENVIRONMENT,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
      REMOTE_USER: "someone",
      ...(encoded ? { HTTP_CONTENT_ENCODING: encoded } : {}),
      ...(request.headers.get("git-protocol")
        ? { GIT_PROTOCOL: request.headers.get("git-protocol") ?? "" }
        : {}),
    },
    stdin: Buffer.from(await request.arrayBuffer()),
    stdout: "pipe",
    stderr: "ignore",
  });
  const bytes = Buffer.from(await new Response(child.stdout).arrayBuffer());
  const end = bytes.indexOf("\r\n\r\n");
  const headers = new Headers();
  let status = 200;
  for (const line of bytes.toString("latin1", 0, end).split("\r\n")) {
    const colon = line.indexOf(":");
    if (line.startsWith("Status:")) status = Number(line.slice(8, 11));
    else headers.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return new Response(bytes.subarray(end + 4), { status, headers });
}
