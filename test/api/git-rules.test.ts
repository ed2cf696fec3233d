import { afterAll, beforeAll, expect } from "bun:test";
import { writeCloneCredential } from "../../src/edge/gateway/clone-credential.ts";
import {
  type GatewayBench,
  type Place,
  refsOf,
  runClient,
  type SessionOf,
  scratch,
  setRefs,
  startGateway,
} from "../helpers/gateway.ts";
import { createRepository } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { generator, pick, SEED, sample, share } from "../helpers/random.ts";

const test = needs("a real Postgres", POSTGRES);

/** Who pushes. */
type Who =
  | "user"
  | "member"
  | "project"
  | "session"
  | "clone"
  | "saver"
  | "stranger"
  | "nobody"
  | "other project"
  | "service key"
  | "stopped session"
  | "expired clone"
  | "replaced clone";

/**
 * One push: refspecs in which a capital names a commit and S the session's branch; what the pusher is told; and the
 * refs that are different afterwards (null: gone). Nothing else may have changed.
 */
interface Row {
  who: Who;
  push: string[];
  flags?: string[];
  /** Words of the refusal; without them the push is taken. */
  says?: string;
  after?: Record<string, string | null>;
  /** Main says direct_push = false, and protects release/* and the tags v*; of `open` only the last. */
  closed?: true;
  open?: true;
}

const MAIN = "refs/heads/main";
const FEATURE = "refs/heads/feature";
const NEW = "refs/heads/new/one";
const OWN = "refs/heads/S";
const TAG = "refs/tags/v1";
const RELEASE = "refs/heads/release/1";

const BY_CR = "can be changed only by a change request";
const SAVES_ONLY = "this credential only saves the work of its session";
const OWN_ONLY = "a session can push only its own branch";

const agents = (who: "session" | "clone"): Row[] => [
  { who, push: [`S2:${OWN}`], after: { [OWN]: "S2" } },
  { who, push: [`S2:${OWN}`], flags: ["--force"], after: { [OWN]: "S2" } },
  { who, push: [`+X:${OWN}`], says: "an agent cannot rewrite history" },
  { who, push: [`:${OWN}`], says: "an agent cannot delete branches" },
  { who, push: [`M3:${MAIN}`], says: BY_CR },
  { who, push: [`+X:${MAIN}`], says: BY_CR },
  { who, push: [`:${MAIN}`], says: BY_CR },
  { who, push: [`F2:${FEATURE}`], says: OWN_ONLY },
  { who, push: [`F2:${NEW}`], says: OWN_ONLY },
  { who, push: [`:${FEATURE}`], says: OWN_ONLY },
  { who, push: ["M3:refs/tags/v2"], says: OWN_ONLY },
  { who, push: ["S2:refs/svc/saved/S"], says: "these refs are reserved for svc" },
  { who, push: [`S2:${OWN}`, `M3:${MAIN}`], says: BY_CR, after: { [OWN]: "S2" } },
  { who, push: [`S2:${OWN}`, `M3:${MAIN}`], flags: ["--atomic"], says: "atomic push failed" },
  { who, push: [`M3:${MAIN}`], flags: ["-o", "merge_request.create"], says: BY_CR },
  { who, push: [`S2:${OWN}`], flags: ["-o", "ci.skip"], after: { [OWN]: "S2" } },
  { who, push: [`M3:${MAIN}`], flags: ["--signed=if-asked"], says: BY_CR },
];

const ROWS: Row[] = [
  { who: "user", push: [`M3:${MAIN}`], after: { [MAIN]: "M3" } },
  { who: "user", push: [`M3:${MAIN}`], flags: ["--force"], after: { [MAIN]: "M3" } },
  { who: "user", push: [`M3:${MAIN}`], flags: ["--atomic"], after: { [MAIN]: "M3" } },
  { who: "user", push: [`M3:${MAIN}`], flags: ["-o", "x"], after: { [MAIN]: "M3" } },
  { who: "user", push: [`+X:${MAIN}`], says: "the default branch cannot be rewritten" },
  { who: "user", push: [`+M1:${MAIN}`], says: "the default branch cannot be rewritten" },
  { who: "user", push: [`:${MAIN}`], says: "the default branch cannot be deleted" },
  { who: "user", push: [`P2:${MAIN}`], closed: true, says: "only by change requests" },
  {
    who: "user",
    push: [`P2:${MAIN}`, `F2:${FEATURE}`],
    closed: true,
    says: "only by",
    after: { [FEATURE]: "F2" },
  },
  { who: "user", push: [`M3:${NEW}`], after: { [NEW]: "M3" } },
  { who: "user", push: [`F2:${FEATURE}`], after: { [FEATURE]: "F2" } },
  { who: "user", push: [`+X:${FEATURE}`], after: { [FEATURE]: "X" } },
  { who: "user", push: [`:${FEATURE}`], after: { [FEATURE]: null } },
  { who: "user", push: [`+X:${OWN}`], after: { [OWN]: "X" } },
  { who: "user", push: ["M3:refs/tags/v2"], after: { "refs/tags/v2": "M3" } },
  { who: "user", push: [`+M3:${TAG}`], after: { [TAG]: "M3" } },
  { who: "user", push: [`:${TAG}`], after: { [TAG]: null } },
  { who: "user", push: ["M3:refs/cr/1/head"], says: "these refs are reserved for svc" },
  { who: "user", push: ["M3:refs/svc/saved/S"], says: "these refs are reserved for svc" },
  { who: "user", push: ["M3:refs/notes/commits"], says: "only branches and tags can be pushed" },
  { who: "user", push: ["M3:refs/pull/1/head"], says: "only branches and tags can be pushed" },
  { who: "user", push: ["M3:refs/heads/HEAD"], says: "not a ref name" },
  { who: "user", push: [`M3:refs/heads/${"a".repeat(40)}`], says: "not a ref name" },
  ...["MAIN", "m\u0430in", "m\u200bain", "\uff4dain", "ma\u0456n", "rnain", "ma\u0131n"].map(
    (name): Row => ({
      who: "user",
      push: [`M3:refs/heads/${name}`],
      says: "looks like that of a protected branch",
    }),
  ),
  { who: "project", push: ["M3:refs/heads/m\u0430in"], says: "looks like that of a protected branch" },
  { who: "user", push: ["M3:refs/tags/main"], says: "a tag cannot look like a protected branch" },
  { who: "user", push: ["M3:refs/tags/m\u0430in"], says: "a tag cannot look like a protected branch" },
  ...(["user", "project"] as const).flatMap((who): Row[] => [
    { who, push: ["M3:refs/heads/refs/heads/main"], says: "begins with refs/" },
    { who, push: ["M3:refs/heads/refs/x"], says: "begins with refs/" },
  ]),
  { who: "user", push: ["M3:refs/tags/refs/heads/main"], says: "begins with refs/" },
  { who: "member", push: [`M3:${MAIN}`], after: { [MAIN]: "M3" } },
  { who: "member", push: [`:${MAIN}`], says: "cannot be deleted" },
  { who: "member", push: [`+M3:${TAG}`], after: { [TAG]: "M3" } },

  // [branches] and [tags] of the manifest
  { who: "user", open: true, push: [`M3:${RELEASE}`], after: { [RELEASE]: "M3" } },
  { who: "user", open: true, push: [`+X:${RELEASE}`], says: "cannot be rewritten" },
  { who: "user", open: true, push: [`:${RELEASE}`], says: "cannot be deleted" },
  { who: "user", open: true, push: ["M3:refs/heads/release/2"], after: { "refs/heads/release/2": "M3" } },
  {
    who: "user",
    open: true,
    push: [`M3:refs/heads/r\u0435lease/1`],
    says: "looks like that of a protected branch",
  },
  {
    who: "user",
    open: true,
    push: ["M3:refs/heads/Release/9"],
    says: "looks like that of a protected branch",
  },
  { who: "user", open: true, push: ["M3:refs/heads/release/2/b"], after: { "refs/heads/release/2/b": "M3" } },
  {
    who: "user",
    open: true,
    push: ["M3:refs/tags/release/1"],
    says: "a tag cannot look like a protected branch",
  },
  { who: "project", open: true, push: [`M3:${RELEASE}`], says: BY_CR },
  { who: "project", open: true, push: ["M3:refs/heads/release/2"], says: BY_CR },
  { who: "session", open: true, push: [`M3:${RELEASE}`], says: BY_CR },
  { who: "user", closed: true, push: [`M3:${RELEASE}`], says: "only by change requests" },
  { who: "member", closed: true, push: ["M3:refs/heads/release/2"], says: "only by change requests" },
  { who: "user", closed: true, push: ["M3:refs/heads/release/2"], after: { "refs/heads/release/2": "M3" } },
  { who: "member", open: true, push: ["M3:refs/tags/v2"], after: { "refs/tags/v2": "M3" } },
  { who: "member", open: true, push: [`+M3:${TAG}`], says: "this tag is protected" },
  { who: "member", open: true, push: [`:${TAG}`], says: "this tag is protected" },
  { who: "member", open: true, push: ["M3:refs/tags/other"], after: { "refs/tags/other": "M3" } },
  { who: "user", open: true, push: [`+M3:${TAG}`], after: { [TAG]: "M3" } },
  { who: "user", open: true, push: [`:${TAG}`], after: { [TAG]: null } },
  { who: "user", push: [`B:${NEW}`], says: "a branch must name a commit" },
  { who: "user", push: ["B:refs/tags/blob"], after: { "refs/tags/blob": "B" } },
  { who: "user", push: [`M3:${NEW}`, `:${MAIN}`], says: "cannot be deleted", after: { [NEW]: "M3" } },
  { who: "user", push: [`M3:${NEW}`, `:${MAIN}`], flags: ["--atomic"], says: "atomic push failed" },
  {
    who: "user",
    push: [`M3:${MAIN}`, `:${FEATURE}`, `M3:${NEW}`],
    after: { [MAIN]: "M3", [FEATURE]: null, [NEW]: "M3" },
  },
  { who: "user", push: ["M3:refs/heads/feature/below"], says: "feature" },
  { who: "user", push: [`F2:${FEATURE}`], flags: [`--force-with-lease=${FEATURE}:M1`], says: "stale info" },

  { who: "project", push: [`M3:${MAIN}`], says: BY_CR },
  { who: "project", push: [`:${MAIN}`], says: BY_CR },
  { who: "project", push: [`M3:${NEW}`], after: { [NEW]: "M3" } },
  { who: "project", push: [`F2:${FEATURE}`], after: { [FEATURE]: "F2" } },
  { who: "project", push: [`+X:${FEATURE}`], says: "an agent cannot rewrite history" },
  { who: "project", push: [`:${FEATURE}`], says: "an agent cannot delete branches" },
  { who: "project", push: ["M3:refs/tags/v2"], says: "a project token can push branches only" },
  { who: "project", push: ["M3:refs/cr/1/head"], says: "these refs are reserved for svc" },

  ...agents("session"),
  ...agents("clone"),

  { who: "user", push: ["S2:refs/svc/saved/S"], says: "these refs are reserved for svc" },
  { who: "user", push: [":refs/svc/saved/S"], says: "these refs are reserved for svc" },
  { who: "project", push: ["S2:refs/svc/saved/S"], says: "these refs are reserved for svc" },
  { who: "saver", push: [`S2:${OWN}`], says: SAVES_ONLY },
  { who: "saver", push: [`M3:${MAIN}`], says: SAVES_ONLY },
  { who: "saver", push: [`:${OWN}`], says: SAVES_ONLY },
  { who: "saver", push: ["M3:refs/tags/v2"], says: SAVES_ONLY },
  { who: "saver", push: ["S2:refs/svc/saved/other"], says: SAVES_ONLY },
  { who: "saver", push: ["S2:refs/svc/saved/S/below"], says: SAVES_ONLY },
  { who: "saver", push: ["S2:refs/cr/1/head"], says: SAVES_ONLY },
  { who: "saver", push: ["B:refs/svc/saved/S"], says: "a branch must name a commit" },

  { who: "stranger", push: [`M3:${NEW}`], says: "not a member" },
  { who: "nobody", push: [`M3:${NEW}`], says: "could not read Username" },
  { who: "other project", push: [`M3:${NEW}`], says: "another project" },
  { who: "service key", push: [`S2:${OWN}`], says: "Authentication failed" },
  { who: "stopped session", push: [`S2:${OWN}`], says: "is not running" },
  { who: "expired clone", push: [`S2:${OWN}`], says: "Authentication failed" },
  { who: "replaced clone", push: [`S2:${OWN}`], says: "Authentication failed" },
];

let bench: GatewayBench;
let commits: Record<string, string>;
const work = scratch();
const random = generator(SEED);
/** Pushes of one pusher that are refused for the same reason, or taken. */
const kindOf = ({ who, says, open, closed }: Row) => JSON.stringify([who, says, open, closed]);
/** A third of each kind, and at least one: who may not do what is in every run. */
const DRAWN = [...Map.groupBy(ROWS, kindOf).values()].flatMap((rows) =>
  pick(share(Math.ceil(rows.length / 3), rows.length), rows, random),
);
const credentials: Record<"hosted" | "external", Record<Who, string | null>> = {
  hosted: {} as Record<Who, string | null>,
  external: {} as Record<Who, string | null>,
};
const sessions = new Map<Place, SessionOf>();

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway();
  commits = await makeCommits();
  for (const kind of ["hosted", "external"] as const) credentials[kind] = await makeCredentials(kind);
});

afterAll(async () => {
  await bench?.stop();
  work[Symbol.dispose]();
});

for (const kind of ["hosted", "external"] as const) {
  test.each(
    // both kinds have the same judge: of the second some rows, other ones in each commit
    (kind === "hosted" ? DRAWN : sample(8, ROWS)).map(
      (row) => [`${row.who}: ${[...(row.flags ?? []), ...row.push].join(" ")}`, row] as const,
    ),
  )(`${kind} repository, %s`, async (_, row) => {
    const place = bench[kind];
    const before = Object.fromEntries(
      Object.entries({
        [MAIN]: row.closed ? "P" : row.open ? "O" : "M2",
        ...((row.closed || row.open) && { [RELEASE]: "M2" }),
        [FEATURE]: "F",
        [OWN]: "S1",
        [TAG]: "M1",
      }).map(([ref, name]) => [refName(place, ref), id(name)]),
    );
    await setRefs(place.directory, before);
    const args = row.push.map((spec) => {
      const [from = "", to = ""] = spec.replace(/^\+/, "").split(":");
      return `${spec.startsWith("+") ? "+" : ""}${from && id(from)}:${refName(place, to)}`;
    });
    const flags = (row.flags ?? []).map((flag) => flag.replace(/:M1$/, `:${id("M1")}`));
    const url = bench.url(place, credentials[kind][row.who]);
    const ran = await runClient(work.path, "push", ...flags, url, ...args);

    if (row.says === undefined) expect(ran).toMatchObject({ code: 0 });
    else {
      expect(ran.code).not.toBe(0);
      expect(ran.err).toContain(row.says);
    }
    const expected = { ...before };
    for (const [ref, name] of Object.entries(row.after ?? {})) {
      if (name === null) delete expected[refName(place, ref)];
      else expected[refName(place, ref)] = id(name);
    }
    const after = await refsOf(place.directory);
    expect(after).toEqual(expected);
    if (row.after === undefined) return;
    // what is served is what the repository holds
    const listed = await runClient(work.path, "ls-remote", "--refs", bench.url(place, bench.api.token));
    const served = listed.out
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split("\t").reverse());
    expect(Object.fromEntries(served)).toEqual(after);
  });
}

test("the table has at least 60 pushes on each kind of repository", () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(60);
});

function id(name: string): string {
  const commit = commits[name];
  if (!commit) throw new Error(`no commit ${name}`);
  return commit;
}

/** The session's branch is called after the session. */
function refName(place: Place, ref: string): string {
  return ref.replace(/(?<=\/)S$/, sessions.get(place)?.branch ?? "");
}

async function makeCommits(): Promise<Record<string, string>> {
  const repository = await createRepository(work.path);
  const files = { f: "1\n" };
  const guarded = '[branches]\nprotected = ["release/*"]\n[tags]\nprotected = ["v*"]\n';
  const closed = { ...files, "svc.toml": `[change_requests]\ndirect_push = false\n${guarded}` };
  const written = await repository.write([
    { name: "M1", files },
    { name: "M2", parents: ["M1"], files: { f: "2\n" } },
    { name: "M3", parents: ["M2"], files: { f: "3\n" } },
    { name: "P", parents: ["M2"], files: closed },
    { name: "O", parents: ["M2"], files: { ...files, "svc.toml": guarded } },
    { name: "P2", parents: ["P"], files: { ...closed, f: "4\n" } },
    { name: "X", files: { other: "1\n" } },
    { name: "F", parents: ["M1"], files: { g: "1\n" } },
    { name: "F2", parents: ["F"], files: { g: "2\n" } },
    { name: "S1", parents: ["M2"], files: { s: "1\n" } },
    { name: "S2", parents: ["S1"], files: { s: "2\n" } },
  ]);
  const blob = await repository.git("rev-parse", `${written["M1"]}:f`);
  // the beginning of each row; what is pushed comes from here and nowhere else
  for (const place of [bench.hosted, bench.external]) {
    for (const name of ["M2", "P", "O", "F", "S1"]) {
      await repository.git("push", "--quiet", place.directory, `${written[name]}:refs/heads/begin-${name}`);
    }
  }
  return { ...written, B: blob };
}

async function makeCredentials(kind: "hosted" | "external"): Promise<Record<Who, string | null>> {
  const { api, keys } = bench;
  const place = bench[kind];
  const other = kind === "hosted" ? bench.external : bench.hosted;
  const session = await bench.session(place);
  sessions.set(place, session);
  const stopped = await bench.session(place, "stopped");
  const mint = async ({ project }: Place) =>
    (await api.call("POST", `/v1/projects/${project.project_id}/cli-token`, { body: {} })).body.token;
  const claims = {
    runId: session.id,
    projectId: place.project.project_id,
    branch: session.branch,
    expiresAt: Math.floor(Date.now() / 1000) + 600,
    issuedFor: keys.hashToken(session.serviceKey),
  };
  return {
    user: api.token,
    member: await bench.member(place, `member-${kind}@example.com`),
    project: await mint(place),
    session: session.token,
    clone: session.cloneCredential,
    saver: writeCloneCredential({ keys }, { ...claims, saves: true }),
    stranger: await api.mint(`stranger-${kind}@example.com`),
    nobody: null,
    "other project": await mint(other),
    "service key": session.serviceKey,
    "stopped session": stopped.token,
    "expired clone": writeCloneCredential({ keys }, { ...claims, expiresAt: claims.expiresAt - 700 }),
    "replaced clone": writeCloneCredential({ keys }, { ...claims, issuedFor: keys.hashToken("svc_sb_old") }),
  };
}
