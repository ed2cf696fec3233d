import type { Page } from "playwright-core";
import type { SessionPages } from "../test/helpers/session-pages.ts";
import { AUTOMATED } from "./screenshots-automation.ts";

/** Opens a page of the project and takes a screenshot when it is loaded. */
export type Take = (name: string, path: string, isThere: (page: Page) => Promise<unknown>) => Promise<void>;

/** Creates realistic change requests. @returns a function that takes screenshots */
export async function makeReview(pages: SessionPages): Promise<(take: Take, size: string) => Promise<void>> {
  const { api, projectId, remote } = pages;
  const at = `/v1/projects/${projectId}/change-requests`;
  const { session_id: session } = await pages.running({ name: "Login page jumps on phones" });
  const before = {
    "src/login/form.ts": FORM,
    "src/login/login.css": ".login form {\n  margin: 0 auto;\n}\n",
    "bun.lock": "1\n",
  };
  remote.commit("main", { ...before, ...AUTOMATED });
  remote.branch(session, "main");
  const after = {
    "src/login/form.ts": FORM_AFTER,
    "src/login/login.css": ".login form {\n  margin: 0 auto;\n  min-height: 18rem;\n}\n",
    "test/login/form.test.ts": TEST,
    "bun.lock": "2\n",
    "docs/picture.png": new Uint8Array([0, 1]),
  };
  remote.commit(session, after, { message: "Reserve the form's height" });
  const open = async (title: string, head_ref: string, more: Record<string, unknown> = {}) =>
    (await api.call("POST", at, { body: { title, head_ref, ...more } })).body.number;
  for (const [title, branch] of OTHERS) {
    remote.branch(branch, "main");
    remote.commit(branch, { [`${branch}.md`]: "new\n" });
    await open(title, branch);
  }
  const number = await open("Keep the login form from jumping on phones", session, {
    description: WHY,
    session_id: session,
  });
  const say = (body: Record<string, unknown>) => api.call("POST", `${at}/${number}/comments`, { body });
  const line = { path: "src/login/form.ts", side: "new", line: 9 };
  const first = await say({ body: "Why **three** tries? The API says five.", ...line });
  await say({ body: "Five it is: I'll change it with the next commit.", reply_to: first.body.comment_id });
  return async (take, size) => {
    const here = `/change-requests/${number}`;
    const isLoaded = (page: Page) => page.locator(".hljs-keyword").first().waitFor();
    await take("change-requests", "/change-requests", (page) => page.getByText("Keep the login").waitFor());
    await take("change-request", here, (page) => page.getByText("It needs one more approval").waitFor());
    await take("changes", `${here}?view=changes`, isLoaded);
    // phones have no split layout
    if (size !== "desktop") return;
    await take("changes-split", `${here}?view=changes&file=src/login/form.ts`, async (page) => {
      await page.getByText("Split").click();
      await isLoaded(page);
    });
  };
}

const OTHERS = [
  ["Explain why an upload was refused", "upload-errors"],
  ["Upgrade the database driver", "driver-4"],
] as const;

const WHY = `The form is laid out **before its font is there**, and grows when it comes.

- Its height is reserved.
- A request whose connection is lost is retried, with exponential backoff.

\`npm test\` passes; see \`test/login/form.test.ts\`.`;

const FORM = `import { post } from "../api.ts";

/** Sends the form. @returns a message for the user */
export async function submit(form: HTMLFormElement): Promise<string> {
  const data = new FormData(form);
  const answer = await post("/login", data);
  return answer.ok ? "Welcome" : "That was not right";
}
`;

const FORM_AFTER = `import { post } from "../api.ts";

const BACKOFF_MS = 250;

/** Sends the form. @returns a message for the user */
export async function submit(form: HTMLFormElement): Promise<string> {
  const data = new FormData(form);
  // mobile connections are lost for moments
  for (let tries = 0; tries < 3; tries++) {
    const answer = await post("/login", data).catch(() => null);
    if (answer) return answer.ok ? "Welcome back" : "That was not right";
    await new Promise((resolve) => setTimeout(resolve, BACKOFF_MS * 2 ** tries));
  }
  return "The server cannot be reached";
}
`;

const TEST = `import { expect, test } from "bun:test";
import { submit } from "../../src/login/form.ts";

test("a request whose connection is lost is retried", async () => {
  expect(await submit(formWith({ email: "a@example.com" }))).toBe("Welcome back");
});
`;
