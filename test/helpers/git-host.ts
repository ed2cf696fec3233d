import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GitHost, GitHostKind } from "../../src/git/run/options.ts";
import { type GitHttpServer, serveGit } from "./git-http.ts";
import { runGit } from "./git-repo.ts";
import { looseRef } from "./remote.ts";

/** The first call reads the base's tip, the second makes the branch; the others list and report checks of a commit. */
export type Step = "read" | "create" | "checks" | "report";

/** A check as the host has it: with its words, and the place where its API lists it. */
export interface HostCheck {
  name: string;
  state: string;
  description?: string | null;
  url?: string | null;
  /** Of GitHub: a check run, with the conclusion if it has ended. */
  run?: { conclusion: string | null };
  /** Of GitLab. */
  allowFailure?: boolean;
}

/** A fault instead of the host's response; `perform` returns the normal response. */
export type Fault = (perform: () => Promise<Response>) => Response | Promise<Response>;

export interface StandIn extends Disposable {
  /** The value of SVC_GIT_HOSTS, as options of the git engine. */
  entry: GitHost;
  /** The repository's address. */
  url: string;
  /** The received API requests. */
  calls: { step: Step; method: string; target: string }[];
  /** Whether anything was pushed, and what else was asked over git's own protocol. */
  requests: GitHttpServer["requests"];
  faults: Partial<Record<Step, Fault>>;
  /** The checks of each commit. */
  checks: Map<string, HostCheck[]>;
  /** Replaces git's response if it returns one. */
  onGit: (request: Request) => Response | null | Promise<Response | null>;
  /** Runs after a request is handled, before its response is sent. */
  after: Partial<Record<Step, () => Promise<unknown>>>;
}

/**
 * A git host with its API over a real bare repository, which it also serves over smart http. The API is built from the
 * host's documentation and refuses what that says it refuses: see the three functions below.
 * @param root holds the bare repository `<path>.git`
 * @param path such as `owner/name`
 */
export function serveHost(kind: GitHostKind, root: string, path: string, token: string): StandIn {
  const api = APIS[kind];
  const standIn: Omit<StandIn, "entry" | "url" | "requests" | typeof Symbol.dispose> = {
    calls: [],
    faults: {},
    after: {},
    checks: new Map(),
    onGit: () => null,
  };
  const repository = new Repository(join(root, `${path}.git`));
  const server = serveGit(root, async (request) => {
    const { origin, pathname, search } = new URL(request.url);
    if (!pathname.startsWith(`${api.prefix}/`))
      return isSignedIn(request, token) ? await standIn.onGit(request) : askWho();
    const target = request.url.slice(origin.length + api.prefix.length);
    const isRead = request.method === "GET";
    const step = /\/(status(es)?|check-runs)(\/|\?|$)/.test(target)
      ? ({ read: "checks", write: "report" } as const)[isRead ? "read" : "write"]
      : ({ read: "read", write: "create" } as const)[isRead ? "read" : "write"];
    standIn.calls.push({ step, method: request.method, target });
    const perform = async () => {
      const text = await request.text();
      const answer = await api.answer({
        request,
        path: target.slice(0, -search.length || undefined),
        search,
        text,
        token,
        repository,
        name: path,
        checks: standIn.checks,
      });
      await standIn.after[step]?.();
      return answer;
    };
    return await (standIn.faults[step] ?? ((ordinary) => ordinary()))(perform);
  });
  return Object.assign(standIn, {
    entry: { origin: server.origin, kind },
    url: `${server.origin}/${path}.git`,
    requests: server.requests,
    [Symbol.dispose]: () => server[Symbol.dispose](),
  });
}

interface Asked {
  request: Request;
  /** Below the API's prefix, still encoded. */
  path: string;
  search: string;
  text: string;
  token: string;
  repository: Repository;
  /** `owner/name`, as it is on the host. */
  name: string;
  checks: Map<string, HostCheck[]>;
}

interface Api {
  prefix: string;
  answer(asked: Asked): Promise<Response>;
}

/** https://docs.github.com/en/enterprise-server/rest/git/refs, and "Getting started with the REST API" for the headers. */
const github: Api = {
  prefix: "/api/v3",
  async answer({ request, path, text, token, repository, name, checks }) {
    const say = (status: number, message: string) =>
      Response.json(
        { message, documentation_url: "https://docs.github.com/rest", status: String(status) },
        { status },
      );
    if (!request.headers.get("user-agent"))
      return new Response("Request forbidden by administrative rules.", { status: 403 });
    if (request.headers.get("accept") !== "application/vnd.github+json")
      return say(415, "Unsupported 'Accept' header");
    if (request.headers.get("x-github-api-version") !== "2022-11-28")
      return say(400, "Unsupported API version");
    if (request.headers.get("authorization") !== `Bearer ${token}`) return say(401, "Bad credentials");
    const [, owner = "", repo = "", below = ""] = /^\/repos\/([^/]+)\/([^/]+)\/(.*)$/.exec(path) ?? [];
    if (`${decodeURIComponent(owner)}/${decodeURIComponent(repo)}` !== name) return say(404, "Not Found");
    if (!below.startsWith("git/")) return await githubChecks(below);
    const rest = below.slice("git/".length);
    const show = (ref: string, sha: string) => ({
      ref,
      node_id: "MDM6",
      url: "",
      object: { type: "commit", sha, url: "" },
    });
    if (request.method === "GET") {
      const branch = decodeURIComponent(/^ref\/heads\/(.+)$/.exec(rest)?.[1] ?? "");
      const sha = await repository.tip(branch);
      return sha ? Response.json(show(`refs/heads/${branch}`, sha)) : say(404, "Not Found");
    }
    const body = readJson(text);
    if (rest !== "refs" || !body) return say(rest === "refs" ? 400 : 404, "Problems parsing JSON");
    const { ref = "", sha = "" } = body;
    if (!/^refs\/[^/]+\/./.test(ref))
      return say(422, "Reference name must start with 'refs' and have at least two slashes");
    if (!(await repository.has(sha))) return say(422, "Object does not exist");
    const made = await repository.make(ref.replace(/^refs\/heads\//, ""), sha);
    if (made === "exists") return say(422, "Reference already exists");
    return made === "refused"
      ? say(422, "Reference update failed")
      : Response.json(show(ref, sha), { status: 201 });

    /** https://docs.github.com/en/rest/commits/statuses and https://docs.github.com/en/rest/checks/runs */
    async function githubChecks(below: string): Promise<Response> {
      const [, commit = "", kind] = /^commits\/([^/]+)\/(status|check-runs)$/.exec(below) ?? [];
      const found = checks.get(commit) ?? [];
      if (request.method === "GET" && kind === "status") {
        if (!(await repository.has(commit))) return say(422, `No commit found for SHA: ${commit}`);
        const statuses = found
          .filter(({ run }) => !run)
          .map(({ name: context, state, description = null, url = null }) => ({
            context,
            state,
            description,
            target_url: url,
          }));
        return Response.json({ state: "pending", statuses, sha: commit, total_count: statuses.length });
      }
      if (request.method === "GET" && kind === "check-runs") {
        const runs = found.flatMap(({ run, name: named, state, description = null, url = null }) =>
          run ? [{ name: named, status: state, ...run, html_url: url, output: { title: description } }] : [],
        );
        return Response.json({ total_count: runs.length, check_runs: runs });
      }
      const sha = /^statuses\/([^/]+)$/.exec(below)?.[1] ?? "";
      const { state = "", context = "default", description, target_url: url } = readJson(text) ?? {};
      if (request.method !== "POST" || sha === "") return say(404, "Not Found");
      if (!(await repository.has(sha))) return say(422, `No commit found for SHA: ${sha}`);
      if (!["error", "failure", "pending", "success"].includes(state) || (description ?? "").length > 140)
        return say(422, "Validation Failed");
      keep(checks, sha, { name: context, state, description: description ?? null, url: url ?? null });
      return Response.json({ state, context }, { status: 201 });
    }
  },
};

/** https://docs.gitlab.com/api/branches/ and https://docs.gitlab.com/api/rest/authentication/ */
const gitlab: Api = {
  prefix: "/api/v4",
  async answer({ request, path, search, text, token, repository, name, checks }) {
    const say = (status: number, message: string) => Response.json({ message }, { status });
    const given =
      request.headers.get("private-token") ?? request.headers.get("authorization")?.replace(/^Bearer /, "");
    if (given !== token) return say(401, "401 Unauthorized");
    const [, project = "", at = ""] = /^\/projects\/([^/]+)\/(.*)$/.exec(path) ?? [];
    if (decodeURIComponent(project) === name && at.includes("statuses")) return await gitlabStatuses(at);
    // a project is one part of the path, so its own slashes must be encoded
    const [, id = "", branch] = /^\/projects\/([^/]+)\/repository\/branches(?:\/([^/]+))?$/.exec(path) ?? [];
    if (decodeURIComponent(id) !== name) return say(404, id ? "404 Project Not Found" : "404 Not Found");
    const show = (named: string, commit: string) => ({
      name: named,
      commit: { id: commit, short_id: commit.slice(0, 8) },
      protected: false,
    });
    if (request.method === "GET") {
      const wanted = decodeURIComponent(branch ?? "");
      const tip = await repository.tip(wanted);
      return tip ? Response.json(show(wanted, tip)) : say(404, "404 Branch Not Found");
    }
    const query = new URLSearchParams(search);
    const [fresh, ref] = [query.get("branch"), query.get("ref")];
    if (!fresh || !ref) return Response.json({ error: "branch is missing, ref is missing" }, { status: 400 });
    const commit = (await repository.tip(ref)) ?? ((await repository.has(ref)) ? ref : null);
    if (!commit) return say(400, `Invalid reference name: ${fresh}`);
    const made = await repository.make(fresh, commit);
    if (made === "exists") return say(400, "Branch already exists");
    return made === "refused"
      ? say(400, `Failed to create branch '${fresh}'`)
      : Response.json(show(fresh, commit), { status: 201 });

    /** https://docs.gitlab.com/api/commits/#commit-status */
    async function gitlabStatuses(at: string): Promise<Response> {
      const listed = /^repository\/commits\/([^/]+)\/statuses$/.exec(at)?.[1];
      if (request.method === "GET" && listed !== undefined) {
        if (!(await repository.has(listed))) return say(404, "404 Commit Not Found");
        const found = checks.get(listed) ?? [];
        return Response.json(
          found.map(({ name: named, state, description = null, url = null, allowFailure = false }) => ({
            name: named,
            status: state,
            description,
            target_url: url,
            allow_failure: allowFailure,
          })),
        );
      }
      const sha = /^statuses\/([^/]+)$/.exec(at)?.[1] ?? "";
      if (request.method !== "POST" || !(await repository.has(sha))) return say(404, "404 Commit Not Found");
      const { state = "", name: named = "default", description, target_url: url } = readJson(text) ?? {};
      if (!["pending", "running", "success", "failed", "canceled", "skipped"].includes(state))
        return Response.json({ error: "state does not have a valid value" }, { status: 400 });
      const before = checks.get(sha)?.find((check) => check.name === named);
      if (before?.state === state && (state === "pending" || state === "running"))
        return say(
          400,
          `Cannot transition status via :enqueue from :${state} (Reason(s): Status cannot transition)`,
        );
      keep(checks, sha, { name: named, state, description: description ?? null, url: url ?? null });
      return Response.json({ name: named, status: state }, { status: 201 });
    }
  },
};

/** https://docs.gitea.com/api (repoGetBranch, repoCreateBranch) and https://docs.gitea.com/development/api-usage */
const gitea: Api = {
  prefix: "/api/v1",
  async answer({ request, path, search, text, token, repository, name, checks }) {
    const say = (status: number, message: string) =>
      Response.json({ message, url: "/api/swagger" }, { status });
    if (request.headers.get("authorization") !== `token ${token}`)
      return say(401, "user does not exist [uid: 0, name: ]");
    const [, user = "", project = "", at = ""] =
      /^\/repos\/([^/]+)\/([^/]+)\/((?:commits|statuses)\/.*)$/.exec(path) ?? [];
    if (`${decodeURIComponent(user)}/${decodeURIComponent(project)}` === name) return await giteaStatuses(at);
    const [, owner = "", repo = "", rest = ""] = /^\/repos\/([^/]+)\/([^/]+)\/branches(.*)$/.exec(path) ?? [];
    if (`${decodeURIComponent(owner)}/${decodeURIComponent(repo)}` !== name)
      return say(404, "The target couldn't be found.");
    const show = (named: string, commit: string) => ({
      name: named,
      commit: { id: commit, message: "" },
      protected: false,
    });
    if (request.method === "GET") {
      const branch = decodeURIComponent(rest.slice(1));
      const tip = await repository.tip(branch);
      return tip ? Response.json(show(branch, tip)) : say(404, "The target couldn't be found.");
    }
    if (request.headers.get("content-type")?.split(";")[0] !== "application/json")
      return say(422, "[]: Empty Content-Type");
    const { new_branch_name: fresh, old_ref_name: from = "" } = readJson(text) ?? {};
    if (rest !== "" || !fresh) return say(rest === "" ? 422 : 404, "[BranchName]: Required");
    const commit = (await repository.has(from)) ? from : null;
    if (!commit) return say(500, "object does not exist");
    const made = await repository.make(fresh, commit);
    if (made === "exists") return say(409, "The branch already exists.");
    return made === "refused"
      ? say(409, "The branch with the same name already exists.")
      : Response.json(show(fresh, commit), { status: 201 });

    /** repoGetCombinedStatusByRef and repoCreateStatus; a page without entries has `statuses: null`. */
    async function giteaStatuses(at: string): Promise<Response> {
      const listed = /^commits\/([^/]+)\/status$/.exec(at)?.[1];
      if (request.method === "GET" && listed !== undefined) {
        if (!(await repository.has(listed))) return say(404, "object does not exist");
        const query = new URLSearchParams(search);
        const [page, limit] = [Number(query.get("page")), Number(query.get("limit"))];
        const statuses = (checks.get(listed) ?? [])
          .slice((page - 1) * limit, page * limit)
          .map(({ name: context, state, description = "", url = "" }) => ({
            context,
            status: state,
            description,
            target_url: url,
          }));
        return Response.json({ state: "pending", statuses: statuses.length > 0 ? statuses : null });
      }
      const sha = /^statuses\/([^/]+)$/.exec(at)?.[1] ?? "";
      if (request.method !== "POST" || !(await repository.has(sha)))
        return say(404, "The target couldn't be found.");
      const { state = "", context = "default", description, target_url: url } = readJson(text) ?? {};
      if (!["pending", "success", "error", "failure", "warning", "skipped"].includes(state))
        return say(422, "[]: unknown state");
      keep(checks, sha, { name: context, state, description: description ?? "", url: url ?? "" });
      return Response.json({ context, status: state }, { status: 201 });
    }
  },
};

/** The last result of a check replaces the others. */
function keep(checks: Map<string, HostCheck[]>, sha: string, check: HostCheck): void {
  checks.set(sha, [...(checks.get(sha) ?? []).filter(({ name }) => name !== check.name), check]);
}

const APIS: Record<GitHostKind, Api> = { github, gitlab, gitea };

/** The bare repository behind the API. */
class Repository {
  /** Commits that were there: none is removed. */
  private readonly known = new Set<string>();

  constructor(private readonly directory: string) {}

  async tip(branch: string): Promise<string | null> {
    const loose = looseRef(this.directory, branch);
    if (loose !== null || !existsSync(join(this.directory, "packed-refs"))) return loose;
    const { code, stdout } = await this.git(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]);
    return code === 0 ? stdout.toString().trim() : null;
  }

  async has(commit: string): Promise<boolean> {
    if (this.known.has(commit)) return true;
    if (!/^[0-9a-f]{40}$/.test(commit)) return false;
    const { code } = await this.git(["cat-file", "-e", `${commit}^{commit}`]);
    if (code === 0) this.known.add(commit);
    return code === 0;
  }

  async make(branch: string, commit: string): Promise<"made" | "exists" | "refused"> {
    if (await this.tip(branch)) return "exists";
    const { code } = await this.git(["update-ref", `refs/heads/${branch}`, commit, "0".repeat(40)]);
    return code === 0 ? "made" : "refused";
  }

  private git(args: string[]) {
    return runGit(this.directory, args, { codes: [0, 1, 128] });
  }
}

function readJson(text: string): Record<string, string> | null {
  try {
    const value: unknown = JSON.parse(text);
    const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
    const given = entries.filter(([, entry]) => entry !== null);
    return Object.fromEntries(given.map(([key, entry]) => [key, String(entry)]));
  } catch {
    return null;
  }
}

/** Over git's own protocol the token is a password, with any user name. */
function isSignedIn(request: Request, token: string): boolean {
  const basic = request.headers.get("authorization")?.replace(/^Basic /, "") ?? "";
  return Buffer.from(basic, "base64").toString().endsWith(`:${token}`);
}

function askWho(): Response {
  return new Response("no", { status: 401, headers: { "WWW-Authenticate": "Basic" } });
}
