import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { createRepository, runGit, type TestRepository, temporary } from "../helpers/git-repo.ts";
import { sample } from "../helpers/random.ts";
import { ROWS, rowCommits, TOPOLOGY, TOPOLOGY_ROWS } from "../helpers/scenarios.ts";

let api: Api;
let upstream: TestRepository;
let ids: Record<string, string>;
let path: string;
let cleanUp: () => Promise<void>;

beforeAll(async () => {
  const directory = await temporary();
  upstream = await createRepository(`${directory.path}/up`);
  ids = await upstream.write([...ROWS.flatMap(rowCommits), ...TOPOLOGY]);
  api = await startApi();
  const project = await api.project(upstream.url, { default_branch: "0/base" });
  path = `/v1/projects/${project.project_id}/change-requests`;
  cleanUp = async () => {
    await api.stop();
    await directory[Symbol.asyncDispose]();
  };
});
afterAll(() => cleanUp());

/** Some of each outcome: `git/compare` has all of them. */
const DRAWN = [
  ...Map.groupBy(
    ROWS.map((row, index) => ({ ...row, index })),
    ({ was, conflicts }) => (was === null ? "unrelated" : (conflicts?.length ?? "clean")),
  ).values(),
].flatMap((rows) => sample(6, rows));

test.each(DRAWN)("$name", async ({ name, was, conflicts, index }) => {
  const [base, head] = [id(`${name}: base`), id(`${name}: head`)];
  const cr = await open(name, `${index}/base`, `${index}/head`);
  expect([cr.base_commit_sha, cr.head_commit_sha]).toEqual([base, head]);
  expect(await get(cr, "/merge-preview")).toEqual({
    base_sha: base,
    head_sha: head,
    merge_base: was ? id(`${name}: was`) : null,
    is_up_to_date: false,
    can_merge: conflicts === null,
    can_fast_forward: false,
    conflicts: conflicts ?? [],
  });
  await diffApplies(cr, was ? id(`${name}: was`) : null, head);
  await mergesAsForetold(
    cr,
    was === null ? "unrelated_histories" : conflicts === null ? null : "merge_conflict",
  );
});

test.each(sample(3, TOPOLOGY_ROWS))("%s", async (name, base, head, expected) => {
  const branch = name.replaceAll(/\W+/g, "-");
  await upstream.git("branch", `${branch}/base`, id(base));
  await upstream.git("branch", `${branch}/head`, id(head));
  const cr = await open(name, `${branch}/base`, `${branch}/head`);
  const preview = await get(cr, "/merge-preview");
  expect(preview).toMatchObject({
    can_merge: expected.canMerge,
    ...(expected.canFastForward !== undefined && { can_fast_forward: expected.canFastForward }),
    ...(expected.isUpToDate !== undefined && { is_up_to_date: expected.isUpToDate }),
    ...(expected.conflicts !== undefined && { conflicts: expected.conflicts }),
  });
  const [first] = (await upstream.git("merge-base", id(base), id(head))).split("\n");
  expect(preview.merge_base).toBe(first ?? null);
  await diffApplies(cr, preview.merge_base, id(head));
  await mergesAsForetold(
    cr,
    preview.is_up_to_date ? "nothing_to_merge" : preview.can_merge ? null : "merge_conflict",
  );
});

async function open(title: string, base_ref: string, head_ref: string): Promise<Answer["body"]> {
  const { status, body } = await api.call("POST", path, { body: { title, base_ref, head_ref } });
  expect(status).toBe(201);
  return body;
}

async function get(cr: Answer["body"], rest: string): Promise<Answer["body"]> {
  const { status, body } = await api.call("GET", `${path}/${cr.number}${rest}`);
  expect(status).toBe(200);
  return body;
}

/** The patch, applied to the merge base, gives the head's tree; the list of files is git's own. */
async function diffApplies(cr: Answer["body"], mergeBase: string | null, head: string): Promise<void> {
  const diff = await get(cr, "/diff");
  const patch = diff.patch_base64 ? Buffer.from(diff.patch_base64, "base64") : Buffer.from(diff.patch);
  const env = { GIT_INDEX_FILE: `${upstream.directory}/index-${crypto.randomUUID()}` };
  await runGit(upstream.directory, ["read-tree", ...(mergeBase ? [mergeBase] : ["--empty"])], { env });
  if (patch.length > 0)
    await runGit(upstream.directory, ["apply", "--cached", "--whitespace=nowarn", "-"], {
      env,
      stdin: patch,
    });
  const tree = (await runGit(upstream.directory, ["write-tree", "--missing-ok"], { env })).stdout
    .toString()
    .trim();
  expect(tree).toBe(await upstream.git("rev-parse", `${head}^{tree}`));
  expect(diff.truncated).toBe(false);
  expect(diff.files_changed).toBe(diff.files.length);
}

/** What the merge does is what the preview said: the branch and the row move together or not at all. */
async function mergesAsForetold(cr: Answer["body"], refusal: string | null): Promise<void> {
  const before = await upstream.git("rev-parse", cr.base_ref);
  const expected = refusal === null ? await tree(cr) : null;
  const { status, body } = await api.call("POST", `${path}/${cr.number}/merge`);
  const after = await upstream.git("rev-parse", cr.base_ref);
  expect([status, body.code]).toEqual(refusal === null ? [200, undefined] : [409, refusal]);
  expect((await get(cr, "")).change_request.status).toBe(refusal === null ? "merged" : "open");
  expect(after).toBe(refusal === null ? body.merge_commit_sha : before);
  if (expected !== null) expect(await upstream.git("rev-parse", `${after}^{tree}`)).toBe(expected);
}

/** The merged tree by git itself, in a work tree, as a person would merge. */
async function tree(cr: Answer["body"]): Promise<string> {
  const directory = `${upstream.directory}-tree-${crypto.randomUUID()}`;
  await runGit(upstream.directory, ["worktree", "add", "--quiet", "--detach", directory, cr.base_ref]);
  await runGit(directory, ["merge", "--quiet", "--no-edit", cr.head_ref]);
  return (await runGit(directory, ["rev-parse", "HEAD^{tree}"])).stdout.toString().trim();
}

function id(name: string): string {
  const found = ids[name];
  if (!found) throw new Error(`no commit ${name}`);
  return found;
}
