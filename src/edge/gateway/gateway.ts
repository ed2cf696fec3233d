import { randomUUID } from "node:crypto";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { LISTING_MS } from "../../features/projects/fetch.ts";
import { allowsDirectPush } from "../../features/projects/policy.ts";
import { readProtection } from "../../features/projects/protection.ts";
import { repositoryOf } from "../../features/projects/repository.ts";
import { fetchSavedWork, recordSaved } from "../../features/saved-work/record.ts";
import type { Protocol, PushJudge, Service, Share, Transfer } from "../../git/git.ts";
import { toBody, toSvcError } from "../../http/errors.ts";
import { methodNotAllowed } from "../../http/methods.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { createGate, holdSlot } from "../../lib/gate.ts";
import { readPattern } from "./names.ts";
import { publishBranches } from "./publish-branches.ts";
import { type Pusher, resolvePusher } from "./pusher.ts";
import { type BranchPolicy, judgePush, type PushRules } from "./rules.ts";

/** Requests in the queue, in total and per caller, for as long as a transfer takes. */
const QUEUE = { queue: 1_024, queuePerKey: 256, waitMs: 10 * 60_000 };
/**
 * Requests whose first bytes are read and buffered, in total and per caller; the others wait unread. Twice the concurrency
 * per caller, so that the next request is ready.
 */
const ARRIVALS = { ...QUEUE, total: 512, perKey: 16 };
/** Concurrency per caller: less than per repository, so that no caller uses up a repository's slots. */
const READS = { ...QUEUE, total: 512, perKey: 8 };
const PUSHES = { ...QUEUE, total: 512, perKey: 4 };

const PREFIX = "/v1/git/";
const ROUTE = /^\/v1\/git\/([^/]+?)(?:\.git)?(?:\/(.*))?$/;
/** Paths of the smart protocol → their methods. */
const VERBS = new Map([
  ["info/refs", "GET"],
  ["git-upload-pack", "POST"],
  ["git-receive-pack", "POST"],
]);

type Gateway = (request: Request) => Promise<Response>;

/**
 * Git's smart HTTP protocol in front of every project (contract: The git gateway; gitprotocol-http):
 * `/v1/git/<project id>.git`. It bypasses the framework, which would buffer requests.
 * @returns a handler for requests with an `isGitPath` path
 */
export function createGateway(deps: Deps): Gateway {
  const arrivals = createGate(ARRIVALS);
  const gates = { "git-upload-pack": createGate(READS), "git-receive-pack": createGate(PUSHES) };

  return async (request) => {
    const id = randomUUID();
    const started = performance.now();
    const response = await answer(request).catch((error: unknown) => refuse(deps, request, error, id));
    response.headers.set("X-Request-Id", id);
    response.headers.set("X-Content-Type-Options", "nosniff");
    response.headers.set("Cache-Control", "no-cache, max-age=0, must-revalidate");
    const ms = performance.now() - started;
    const { method } = request;
    deps.metrics.requestSeconds.observe({ method, route: `${PREFIX}*`, status: response.status }, ms / 1000);
    deps.log.info(
      { request: id, method, route: `${PREFIX}*`, status: response.status, ms: Math.round(ms) },
      "answered",
    );
    return response;
  };

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [, name = "", verb = ""] = ROUTE.exec(url.pathname) ?? [];
    const isPush = [verb, url.searchParams.get("service")].includes("git-receive-pack");
    const { pusher, project } = await resolvePusher(
      deps,
      request.headers.get("authorization"),
      decode(name),
      isPush ? "git:write" : "git:read",
    );
    const method = VERBS.get(verb);
    if (method === undefined) throw onlySmart();
    if (request.method !== method) throw methodNotAllowed([method]);
    const caller = `${pusher.kind} ${pusher.id}`;
    if (method === "GET") {
      return await arrivals(`advertise ${caller}`, () =>
        advertise(deps, project, pusher, request, url.searchParams.get("service")),
      );
    }
    const service = verb === "git-upload-pack" ? verb : "git-receive-pack";
    const share: Share = (begin) => holdSlot(gates[service], caller, begin);
    const { answer } = await arrivals(`${service} ${caller}`, () =>
      transfer(deps, project, pusher, request, { service, share }),
    );
    return new Response(answer, { headers: { "Content-Type": `application/x-${service}-result` } });
  }
}

/** @param path with or without its query */
export function isGitPath(path: string): boolean {
  return path.startsWith(PREFIX);
}

/** The methods of a path of the gateway; null for other paths. */
export function gitMethods(path: string): string[] | null {
  if (!path.startsWith(PREFIX)) return null;
  const [, , verb = ""] = ROUTE.exec(path) ?? [];
  const method = VERBS.get(verb);
  return method === undefined ? [] : [method];
}

async function advertise(
  deps: Deps,
  project: ProjectRow,
  pusher: Pusher,
  request: Request,
  service: string | null,
): Promise<Response> {
  if (service !== "git-upload-pack" && service !== "git-receive-pack") throw onlySmart();
  if (pusher.kind === "saver") await fetchSavedWork(deps, project, pusher.id);
  const body = await deps.git.advertise(repositoryOf(deps, project), {
    service,
    protocol: protocolOf(request),
    head: project.defaultBranch,
    ...(pusher.kind === "saver" && { own: pusher.ref }),
  });
  return new Response(new Uint8Array(body), {
    headers: { "Content-Type": `application/x-${service}-advertisement` },
  });
}

async function transfer(
  deps: Deps,
  project: ProjectRow,
  pusher: Pusher,
  request: Request,
  { service, share }: { service: Service; share: Share },
): Promise<Transfer> {
  if (request.headers.get("content-type") !== `application/x-${service}-request`) throw onlySmart();
  const body = bodyOf(request);
  const repo = repositoryOf(deps, project);
  return service === "git-upload-pack"
    ? await deps.git.upload(repo, { protocol: protocolOf(request), body, share, signal: request.signal })
    : await deps.git.receive(repo, {
        body,
        share,
        judge: judgeFor(deps, project, pusher),
        changed: (refs) => publishBranches(deps, project, pusher, refs),
        ...(pusher.kind === "saver" && {
          own: { ref: pusher.ref, changed: (commit) => recordSaved(deps, project, pusher, commit) },
        }),
      });
}

/**
 * The rules for one push. The manifest is read once for all its refs.
 */
function judgeFor(deps: Deps, project: ProjectRow, pusher: Pusher): PushJudge {
  let rules: Promise<PushRules> | null = null;
  const policy: BranchPolicy = {
    defaultBranch: project.defaultBranch,
    formerDefaultBranches: project.formerDefaultBranches,
    rules() {
      rules ??= readRules(deps, project);
      return rules;
    },
  };
  return (update) => judgePush(pusher, policy, update);
}

async function readRules(deps: Deps, project: ProjectRow): Promise<PushRules> {
  const listing = await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
  const directPush = await allowsDirectPush(deps, project, listing);
  const { protectedBranches, protectedTags } = await readProtection(deps, project, listing);
  const branches = [project.defaultBranch, ...project.formerDefaultBranches, ...protectedBranches];
  return { directPush, branches: branches.map(readPattern), tags: protectedTags.map(readPattern) };
}

/** @throws validation_failed for an encoding that git does not use */
function bodyOf(request: Request): ReadableStream<Uint8Array> {
  const body = request.body ?? new ReadableStream({ start: (controller) => controller.close() });
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding === "identity") return body;
  if (encoding === "gzip" || encoding === "x-gzip") return body.pipeThrough(new DecompressionStream("gzip"));
  throw new SvcError("validation_failed", "The body must be plain or gzip.");
}

function protocolOf(request: Request): Protocol {
  const wanted = (request.headers.get("git-protocol") ?? "").split(":");
  if (wanted.includes("version=2")) return "version=2";
  return wanted.includes("version=1") ? "version=1" : null;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function onlySmart(): SvcError {
  return new SvcError(
    "not_found",
    "Only git's smart HTTP protocol is supported: clone from /v1/git/<project id>.git with git 1.6.6 or newer.",
  );
}

/** Plain text, which git shows to its user; JSON as on other routes if the client accepts it. */
function refuse(deps: Deps, request: Request, cause: unknown, id: string): Response {
  const error = toSvcError(cause, "UNKNOWN", id);
  if (error.status >= 500 && !(cause instanceof SvcError)) {
    deps.log.error({ request: id, err: error.code === "internal" ? cause : undefined }, error.message);
  }
  const headers = {
    ...error.headers,
    ...(error.status === 401 && { "WWW-Authenticate": 'Basic realm="svc", charset="UTF-8"' }),
  };
  const { status } = error;
  if (/\bjson\b/.test(request.headers.get("accept") ?? ""))
    return Response.json(toBody(error), { status, headers });
  return new Response(`${error.message}\n`, {
    status,
    headers: { ...headers, "Content-Type": "text/plain; charset=utf-8" },
  });
}
