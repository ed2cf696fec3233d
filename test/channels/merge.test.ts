import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type ChannelBench, STRANGER, startChannels } from "../helpers/channels.ts";
import { until } from "../helpers/until.ts";

let bench: ChannelBench;
beforeAll(async () => {
  bench = await startChannels();
  await bench.connect();
});
afterAll(() => bench.stop());
afterEach(() => {
  bench.isWorking = false;
});

/** A thread whose session has opened a change request when its prompt ends. */
async function proposed(title = "Fix it") {
  bench.isWorking = true;
  const ts = await bench.mention("fix it");
  await bench.said(ts, "Working…");
  const [{ branch_name: branch }] = (await bench.call("GET", "/sessions")).body.sessions;
  bench.remote.commit(branch, { a: `${branch}\n`, b: "2\n" });
  const made = await bench.call("POST", "/change-requests", { body: { title, head_ref: branch } });
  bench.isWorking = false;
  const message = await bench.said(ts, `change-requests/${made.body.number}|#${made.body.number} `);
  return { ts, branch, number: made.body.number, head: made.body.head_commit_sha, message };
}

const get = async (number: number) =>
  (await bench.call("GET", `/change-requests/${number}`)).body.change_request;

test("a change request is posted with its size, and its button merges it as the member", async () => {
  const { number, head, message } = await proposed("<!here> *fix*");
  expect(message.text).toContain("&lt;!here&gt;");
  expect(message.text).toContain("2 files, +2 −1");
  expect(message.text).toContain(head.slice(0, 10));
  expect(await bench.click(message, "svc_merge")).toBe(200);
  await until("the message says so", () => message.text.includes("merged by"));
  expect(await get(number)).toMatchObject({
    status: "merged",
    merger: { kind: "user" },
    head_commit_sha: head,
  });
  expect(message.blocks).toHaveLength(1);
});

test("only the commit that was shown is merged: after a push, the message shows the new one first", async () => {
  const { ts, branch, number, message } = await proposed();
  bench.remote.commit(branch, { c: "3\n" });
  await bench.click(message, "svc_merge");
  await bench.said(ts, /moved/);
  const { status, head_commit_sha: head } = await get(number);
  expect(status).toBe("open");
  await until("the message shows the new commit", () => message.text.includes(head.slice(0, 10)));
  await bench.click(message, "svc_merge");
  await until("it is merged", async () => (await get(number)).status === "merged");
});

test("a button that is clicked before svc has recorded its message merges", async () => {
  const posted = Promise.withResolvers<void>();
  bench.slack.beforeAnswer = ({ method, args }) =>
    method === "chat.postMessage" && args["blocks"] !== undefined ? posted.promise : undefined;
  const { number, message } = await proposed();
  const lookups = () => bench.slack.calls.filter(({ method }) => method === "users.info").length;
  const before = lookups();
  await bench.click(message, "svc_merge");
  await until("the click is handled", () => lookups() > before);
  bench.slack.beforeAnswer = () => {};
  posted.resolve();
  await until("it is merged", async () => (await get(number)).status === "merged");
});

test("a person who is no member merges nothing", async () => {
  const { ts, number, message } = await proposed();
  await bench.click(message, "svc_merge", { user: { id: STRANGER } });
  await bench.said(ts, `<@${STRANGER}> Only members`);
  expect((await get(number)).status).toBe("open");
});

test("a button with another number or without a commit merges nothing", async () => {
  const other = await proposed();
  const { ts, number, head, message } = await proposed();
  const click = (value: object) =>
    bench.click(
      { ...message, blocks: [{ elements: [{ action_id: "svc_merge", value: JSON.stringify(value) }] }] },
      "svc_merge",
    );
  await click({ cr: other.number, head: other.head });
  await click({ cr: number });
  await click({ cr: number, head: "main" });
  await click({ cr: "constructor", head });
  await click({ cr: number, head: "0".repeat(40) });
  await bench.said(ts, /moved/);
  expect([(await get(number)).status, (await get(other.number)).status]).toEqual(["open", "open"]);
});

test("the rules of the project hold: a change request without its approvals is not merged", async () => {
  bench.remote.commit("main", { "svc.toml": "svc_version = 1\n[change_requests]\nrequired_approvals = 1\n" });
  const { ts, number, message } = await proposed();
  await bench.click(message, "svc_merge");
  await bench.said(ts, /approval/);
  expect((await get(number)).status).toBe("open");
});

test("in a project with a merge queue, the button puts it into the queue, and svc says so", async () => {
  const rules = '[merge]\nqueue = true\n[checks]\nrequired = ["test"]\n';
  bench.remote.commit("main", { "svc.toml": `svc_version = 1\n${rules}` });
  const { ts, number, message } = await proposed();
  await bench.click(message, "svc_merge");
  await bench.said(ts, `#${number} is in the merge queue of main, at position 1.`);
  expect((await get(number)).queue).toMatchObject({ position: 1 });
});
